// The service as a separate process on a free port of the loopback interface.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { options } from "./options.js";

// The start of the line that names the address.
const LISTENING = "listening on ";

// Runs a program on a terminal of its own, and passes on what it writes there. The end of the terminal ends the program.
const ON_TERMINAL = ["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])"];

let numberOfLogs = 0;

export class Service {
  #folder;
  #settings;
  #isDurable;
  #hasTerminal;
  #process;
  #log;
  // What the service has written to standard output.
  said = "";

  constructor(folder, settings, { isDurable, hasTerminal }) {
    this.#folder = folder;
    this.#settings = settings;
    this.#isDurable = isDurable;
    this.#hasTerminal = hasTerminal;
    numberOfLogs += 1;
    this.#log = join(options.results, `service-${numberOfLogs}.log`);
  }

  // Starts the service and waits until it listens. After the first start, it keeps its port.
  async start() {
    const port = this.url ? new URL(this.url).port : "0";
    const storage = this.#isDurable ? { BACKEND: "sqlite", DIR: join(this.#folder, "data") } : { BACKEND: "memory" };
    const settings = {
      SERVER__PORT: port,
      STORAGE__BACKEND: storage.BACKEND,
      ...(storage.DIR && { STORAGE__DIR: storage.DIR }),
      ...this.#settings,
    };
    // A developer's own configuration must not affect the tests.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("CUEPOINT_"));
    const given = Object.entries(settings).map(([name, value]) => [`CUEPOINT__${name}`, String(value)]);
    const env = { ...Object.fromEntries([...inherited, ...given]), CUEPOINT_ENV: "test" };
    const [program, ...words] = [...(this.#hasTerminal ? ON_TERMINAL : []), options.service];
    this.#process = spawn(program, words, { cwd: this.#folder, env, stdio: ["ignore", "pipe", "pipe"] });
    this.#process.stderr.on("data", (text) => appendFileSync(this.#log, text));
    const lines = createInterface({ input: this.#process.stdout });
    this.url = await new Promise((listening, failed) => {
      lines.on("line", (line) => {
        appendFileSync(this.#log, `${line}\n`);
        this.said += `${line}\n`;
        if (line.startsWith(LISTENING)) listening(line.slice(LISTENING.length).trim());
      });
      this.#process.on("error", failed);
      this.#process.on("exit", (code) => failed(new Error(`the service ended with ${code}; its log is ${this.#log}`)));
    });
  }

  // Ends the service without a chance to finish anything.
  async kill() {
    if (!this.#process || this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exit;
  }

  // Calls an operation of the API, and returns `data` of the answer. A refusal is an error with its `status` and
  // `answer`.
  async call(method, path, { token, body, key } = {}) {
    const headers = {
      ...(body && { "Content-Type": "application/json" }),
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(key && { "Idempotency-Key": key }),
    };
    const response = await fetch(`${this.url}/api/v1${path}`, { method, headers, body: body && JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) {
      const error = new Error(`${method} ${path} returned ${response.status}: ${JSON.stringify(answer)}`);
      throw Object.assign(error, { status: response.status, answer });
    }
    return answer.data;
  }
}
