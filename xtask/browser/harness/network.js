// The network between a browser and the service: a proxy that the test can cut, and whose messages it can lose,
// hold or replace.

import { createServer, request as call } from "node:http";
import { text } from "node:stream/consumers";

export class Network {
  // The forms that the browser sent, in their order, each with its `path`, its `key`, the time `at` and the `status` of the
  // service's answer.
  posts = [];
  #target;
  #server;
  #isCut = false;
  #losesAnswers = false;
  #held;
  #stranger;

  // Connects browsers to this service, also after its restart. The network ends with the scene.
  static async to(scene, service) {
    const network = new Network();
    network.#target = new URL(service.url);
    network.#server = createServer((request, response) =>
      network.#answer(request, response).catch(() => request.socket.destroy()),
    );
    await new Promise((listening) => network.#server.listen(0, "127.0.0.1", listening));
    network.url = `http://127.0.0.1:${network.#server.address().port}`;
    scene.atEnd(() => network.#end());
    return network;
  }

  // Ends every connection, and refuses new ones.
  cut() {
    this.#isCut = true;
    this.#server.closeAllConnections();
  }

  // Forms reach the service, but the browser loses its connection before the answer.
  loseAnswers() {
    this.#losesAnswers = true;
  }

  // Forms reach the service only when the returned function is called.
  holdForms() {
    let release;
    this.#held = new Promise((released) => (release = released));
    return release;
  }

  // This function answers in place of the service: all requests, or those of which the other function returns true.
  replaceService(answer, isMeant = () => true) {
    this.#stranger = { answer, isMeant };
  }

  // Connects the browser with the service again.
  restore() {
    this.#isCut = false;
    this.#losesAnswers = false;
    this.#stranger = undefined;
  }

  async #answer(request, response) {
    const leave = () => request.socket.destroy();
    if (this.#isCut) return leave();
    const post = request.method === "POST" && { path: request.url, at: performance.now() };
    if (post) this.posts.push(post);
    const body = post && (await text(request));
    if (post) post.key = new URLSearchParams(body).get("key");
    if (this.#stranger?.isMeant(request)) return this.#stranger.answer(request, response);
    if (post) await this.#held;
    const { hostname, port } = this.#target;
    const { method, url: path, headers } = request;
    const forwarded = call({ hostname, port, method, path, headers }, async (answer) => {
      if (post) {
        post.status = answer.statusCode;
        if (this.#losesAnswers) return leave();
      }
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
      answer.on("error", leave);
    });
    forwarded.on("error", leave);
    response.on("close", () => forwarded.destroy());
    forwarded.end(body || undefined);
  }

  #end() {
    this.#server.closeAllConnections();
    return new Promise((closed) => this.#server.close(closed));
  }
}
