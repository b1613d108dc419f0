// Holds responses against the published descriptions.
import { NOT_OFFERED_CONTENT, bareType, descriptionOf, mediaOf, parsed } from './description.js';
import { StreamCheck } from './stream-check.js';

/** Collects how the responses that it is shown differ from their descriptions. */
export class ResponseCheck {
  private readonly found = new Set<string>();
  private readonly underWay = new Set<Promise<void>>();

  /** Records the violations of a response. A stream is returned as one that is validated while it is read. */
  look(method: string, response: Response): Response {
    const url = new URL(response.url);
    const description = response.headers.has('x-svc-version') ? descriptionOf(url.pathname) : undefined;
    if (!description || method === 'OPTIONS') return response;
    const note = (faults: readonly string[]): void => {
      for (const fault of faults) this.found.add(`${method} ${url.pathname}: ${response.status} ${fault}`);
    };
    const answer = description.find(method, url, response.status);
    if (answer === 'nothing') {
      note(['is not described']);
      return response;
    }
    if (answer !== 'not offered') note(description.headerFaults(answer, response));
    if (response.status === 204 || method === 'HEAD') return response;
    const type = response.headers.get('content-type') ?? '';
    const media = mediaOf(answer === 'not offered' ? NOT_OFFERED_CONTENT : answer.content, type);
    if (!media) {
      note([`has the type ${type}`]);
      return response;
    }
    switch (bareType(type)) {
      case 'text/event-stream':
        return eachPart(response, new StreamCheck(description, media, note));
      case 'application/json':
        this.readBeside(response, (text) => {
          const value = parsed(text);
          note(value === undefined ? ['body is not JSON'] : description.bodyFaults(media.schema, value));
        });
    }
    return response;
  }

  /** What was found, once all that was read beside its test has been read. */
  async faults(): Promise<string[]> {
    await Promise.all(this.underWay);
    return [...this.found].toSorted();
  }

  private readBeside(response: Response, see: (text: string) => void): void {
    const looking = response
      .clone()
      .text()
      // A test may cut off its response.
      .then(see, () => undefined)
      .finally(() => this.underWay.delete(looking));
    this.underWay.add(looking);
  }
}

/** The same response, validated chunk by chunk when its reader takes it, and not before. */
function eachPart(response: Response, check: StreamCheck): Response {
  if (!response.body) return response;
  const decoder = new TextDecoder();
  const passing = new TransformStream<Uint8Array, Uint8Array>({
    transform: (bytes, controller) => {
      check.feed(decoder.decode(bytes, { stream: true }));
      controller.enqueue(bytes);
    },
    // Not called for a stream that is cut off.
    flush: () => check.end(),
  });
  const looked = new Response(response.body.pipeThrough(passing), response);
  return Object.defineProperty(looked, 'url', { value: response.url });
}
