import {
  type ChunkStream,
  type Completion,
  type BackendJobs,
  type BackendStates,
  type Embeddings,
  type EnclaveReports,
  type ImageOrders,
  type Nodes,
  PromptCount,
  type Scores,
  type Served,
  type Speech,
  type Transcriptions,
  type WireCall,
  type ChatCall,
  decodeServedBy,
  decodeInferenceCall,
  decodeProblemTrailer,
  encodeServedBy,
  encodeInferenceCall,
  encodeProblemTrailer,
} from '@svc/contracts/inference';
import { readServed, remotePorts } from '../src/api/remote-ports.js';
import { RouterPorts } from '../src/api/router-ports.js';
import { completeFor, streamFor } from '../src/api/serve-call.js';
import { Problem, type ProblemOnWire, decodeProblem, encodeProblem } from '@svc/contracts/problems';

type Headers = Readonly<Record<string, string>>;

/** A response as HTTP would carry it. */
interface Response {
  readonly status: number;
  readonly headers: Buffer;
  readonly body: AsyncIterator<Buffer, Headers>;
}

const frozen = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const thawed = <Value>(bytes: Buffer): Value => JSON.parse(bytes.toString()) as Value;

/** A router of this process, called as if it were in another: only bytes cross the boundary. */
export class SerialisedRouter extends RouterPorts {
  override readonly embeddings: Embeddings;
  override readonly images: ImageOrders;
  override readonly enclaves: EnclaveReports;
  override readonly jobs: BackendJobs;
  override readonly nodes: Nodes;
  override readonly scores: Scores;
  override readonly speech: Speech;
  override readonly states: BackendStates;
  override readonly transcriptions: Transcriptions;

  constructor(private readonly router: RouterPorts) {
    super();
    const ports = remotePorts(
      (call, signal) => this.completed(call, signal),
      (call, signal) => this.streamed(call, signal),
    );
    this.embeddings = ports.embeddings;
    this.images = ports.images;
    this.enclaves = ports.enclaves;
    this.jobs = ports.jobs;
    this.nodes = ports.nodes;
    this.scores = ports.scores;
    this.speech = ports.speech;
    this.states = router.states;
    this.transcriptions = ports.transcriptions;
  }

  override complete(call: ChatCall, signal: AbortSignal): Promise<Completion> {
    return this.completed(call, signal);
  }

  private async completed(call: WireCall, signal: AbortSignal): Promise<Completion> {
    const { headers, body } = await this.ask(call, false, signal);
    const parts: Buffer[] = [];
    for (let next = await body.next(); next.done !== true; next = await body.next()) parts.push(next.value);
    return { ...decodeServedBy(thawed(headers)), body: Buffer.concat(parts).toString() };
  }

  override async count(call: ChatCall, signal: AbortSignal): Promise<Served<PromptCount>> {
    return readServed(await this.completed({ ...call, kind: 'prompt-count' }, signal), PromptCount);
  }

  override stream(call: ChatCall, signal: AbortSignal): Promise<ChunkStream> {
    return this.streamed(call, signal);
  }

  private async streamed(call: WireCall, signal: AbortSignal): Promise<ChunkStream> {
    const { headers, body } = await this.ask(call, true, signal);
    const bytes: AsyncIterator<readonly Uint8Array[]> = {
      next: async () => {
        const next = await body.next();
        if (next.done !== true) return { value: [next.value], done: false };
        const problem = decodeProblemTrailer(thawed(frozen(next.value)));
        if (problem) throw problem;
        return { value: undefined, done: true };
      },
      return: async () => {
        await body.return?.({});
        return { value: undefined, done: true };
      },
    };
    return { ...decodeServedBy(thawed(headers)), bytes: { [Symbol.asyncIterator]: () => bytes } };
  }

  private async ask(call: WireCall, stream: boolean, signal: AbortSignal): Promise<Response> {
    const { headers, body } = encodeInferenceCall(call, stream);
    const response = await this.serve({ headers: frozen(headers), body: Buffer.concat(body) }, signal);
    if (response.status === 200) return response;
    const { value } = await response.body.next();
    throw decodeProblem(thawed<ProblemOnWire>(value as Buffer));
  }

  /** The serving side. */
  private async serve(request: { headers: Buffer; body: Buffer }, signal: AbortSignal): Promise<Response> {
    try {
      const { call, stream } = decodeInferenceCall(thawed(request.headers), [request.body]);
      if (!stream) {
        const { body, ...answering } = await completeFor(this.router, call, signal);
        return {
          status: 200,
          headers: frozen(encodeServedBy(answering)),
          body: onePart(Buffer.from(body)),
        };
      }
      const { bytes, ...answering } = await streamFor(this.router, call, signal);
      return { status: 200, headers: frozen(encodeServedBy(answering)), body: parts(bytes) };
    } catch (error) {
      return {
        status: Problem.from(error).status,
        headers: frozen({}),
        body: onePart(frozen(encodeProblem(error))),
      };
    }
  }
}

/** Yields the trailers at the end. */
function parts(bytes: ChunkStream['bytes']): AsyncIterator<Buffer, Headers> {
  const iterator = bytes[Symbol.asyncIterator]();
  return {
    next: async () => {
      try {
        const next = await iterator.next();
        if (next.done === true) return { value: {}, done: true };
        // Copied, in one piece.
        return { value: Buffer.concat(next.value), done: false };
      } catch (error) {
        return { value: encodeProblemTrailer(error), done: true };
      }
    },
    return: async () => {
      await iterator.return?.();
      return { value: {}, done: true };
    },
  };
}

async function* onePart(bytes: Buffer): AsyncGenerator<Buffer, Headers> {
  yield bytes;
  return {};
}
