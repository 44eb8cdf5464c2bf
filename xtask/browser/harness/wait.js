// Waiting for conditions.

import { setTimeout as pause } from "node:timers/promises";

// The time after which a condition will not come true, in milliseconds.
export const LIMIT = 10_000;

// A promise was not kept in its time.
export class Late extends Error {}

// Waits for the promise, and fails after the limit.
export async function within(limit, description, promise) {
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Late(`not within ${limit} ms: ${description}`)), limit);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

// Waits until the condition returns a true value, and returns this value.
export async function eventually(description, condition, limit = LIMIT) {
  const end = performance.now() + limit;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error(`not within ${limit} ms: ${description}`);
    await pause(50);
  }
}
