// A client of the API server for the tests.
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
/** Far more than needed, so that a busy machine fails no test. */
const MOST_MS = 8 * 60_000;

/** Polls until a value exists; on timeout, the error names what was expected. */
export async function until(what, look, mostMs = MOST_MS) {
  const deadline = Date.now() + mostMs;
  let last;
  do {
    try {
      last = await look();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    await sleep(POLL_MS);
  } while (Date.now() < deadline);
  throw new Error(`it never came to this: ${what}`, { cause: last });
}

export class Api {
  constructor({ port, token, ca }) {
    this.port = port;
    this.headers = { authorization: `Bearer ${token}` };
    this.agent = new Agent({ ca, keepAlive: true });
  }

  open(method, path, { body, type = 'application/json' } = {}) {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      // Node sets no Content-Length for the body of a DELETE.
      const described = { 'content-type': type, 'content-length': Buffer.byteLength(text) };
      const headers = { ...this.headers, ...(text && described) };
      const to = { host: '127.0.0.1', port: this.port, path, method, headers, agent: this.agent };
      const sent = request(to, resolve);
      sent.once('error', reject);
      sent.end(text);
    });
  }

  /** The response, whatever its status. */
  async send(method, path, of) {
    const response = await this.open(method, path, of);
    response.setEncoding('utf8');
    let text = '';
    for await (const part of response) text += part;
    const isJson = /json/.test(response.headers['content-type'] ?? '');
    return {
      status: response.statusCode,
      body: isJson ? JSON.parse(text) : text,
      warning: response.headers.warning,
    };
  }

  /** The body of a response; throws if the request was refused. */
  async ask(method, path, of) {
    const { status, body } = await this.send(method, path, of);
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${body.message ?? body}`);
    return body;
  }

  get(path) {
    return this.ask('GET', path);
  }

  create(path, body) {
    return this.ask('POST', path, { body });
  }

  patch(path, body, type = 'application/strategic-merge-patch+json') {
    return this.ask('PATCH', path, { body, type });
  }

  async items(path) {
    return (await this.get(path)).items;
  }

  /** Watches every version of an object from now on. */
  async history(path, name) {
    const { resourceVersion } = (await this.get(path)).metadata;
    const query = `watch=1&fieldSelector=metadata.name%3D${name}&resourceVersion=${resourceVersion}`;
    const response = await this.open('GET', `${path}?${query}`);
    const versions = [];
    let rest = '';
    response.setEncoding('utf8').on('data', (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop();
      for (const line of lines) versions.push(JSON.parse(line).object);
    });
    return { versions, end: () => response.destroy() };
  }
}
