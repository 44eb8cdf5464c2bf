// A server of files, with the headers of pages.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";

export const HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; trusted-types cuepoint; " +
    "require-trusted-types-for 'script'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "geolocation=(self), camera=(), microphone=()",
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
};

const MEDIA_TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

// Serves a folder, and returns the server with its `url`. Streams stay open without a message; forms and live parts
// get the answer that nothing changed.
export async function serve(folder) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://server");
    if (request.headers.accept === "text/event-stream") {
      response.writeHead(200, { ...HEADERS, "Content-Type": "text/event-stream" }).write(": open\n\n");
      return;
    }
    if (request.method === "POST" || request.headers["sec-fetch-dest"] === "empty") {
      response.writeHead(204, HEADERS).end();
      return;
    }
    try {
      const file = await readFile(join(folder, normalize(decodeURIComponent(pathname))));
      response.writeHead(200, { ...HEADERS, "Content-Type": MEDIA_TYPES[extname(pathname)] }).end(file);
    } catch {
      response.writeHead(404, HEADERS).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  server.url = `http://127.0.0.1:${server.address().port}`;
  return server;
}

// Ends the server and its open streams.
export function stop(server) {
  server.closeAllConnections();
  return new Promise((closed) => server.close(closed));
}
