import {
  AudioToTranscribe,
  BackendJob,
  type CallKind,
  type CallOrigin,
  type ChunkStream,
  type Completion,
  EmbeddingTexts,
  ImageEdit,
  ImageOrder,
  type ImageWork,
  type JobCall,
  type NetworkCall,
  networkOfNodes,
  ModerationOrder,
  RankOrder,
  ImageChange,
  type Served,
  SpokenText,
  type TranscriptionCall,
  type WireCall,
} from '@svc/contracts/inference';
import { AttestationCall, SignatureCall } from '@svc/contracts/messages';
import { MediaOrder } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { RouterPorts } from './router-ports.js';
import { readCallBody } from '../models/call-body.js';

type Serve<Response> = (router: RouterPorts, call: WireCall, signal: AbortSignal) => Promise<Response>;

/** How a kind of call is made by its port: with a complete response, a streamed one, or either. */
interface Serving {
  readonly complete?: Serve<Completion>;
  readonly stream?: Serve<ChunkStream>;
}

/** A call whose response is the JSON of what its port returns. */
const json = (serve: Serve<Served<object>>): Serving => ({
  complete: async (...parts) => {
    const { result, ...servedBy } = await serve(...parts);
    return { ...servedBy, body: JSON.stringify(result) };
  },
});

const images = (workOf: (call: WireCall) => ImageWork): Serving =>
  json(({ images: port }, call, signal) => port.make({ ...originOf(call), ...workOf(call) }, signal));

const changes = (kind: 'image-upscale' | 'image-cutout'): Serving =>
  images(({ body, files = [] }) => ({ kind, order: readCallBody(ImageChange, body), files }));

const transcripts = (kind: TranscriptionCall['kind']): Serving =>
  json((router, call, signal) =>
    router.transcriptions.transcribe({ ...originOf(call), kind, ...audioOf(call) }, signal),
  );

const nodes = (isSend: boolean): Serving => ({
  complete: async (router, call, signal) => {
    const { result, ...servedBy } = await router.nodes.call({ ...networkCall(call), isSend }, signal);
    return { ...servedBy, body: result };
  },
});

const SERVINGS: Readonly<Record<CallKind, Serving>> = {
  chat: {
    complete: (router, call, signal) => router.complete(call, signal),
    stream: (router, call, signal) => router.stream(call, signal),
  },
  'prompt-count': json((router, call, signal) => router.count(call, signal)),
  embeddings: json(({ embeddings }, call, signal) =>
    embeddings.vectors({ ...originOf(call), texts: readCallBody(EmbeddingTexts, call.body) }, signal),
  ),
  rerank: json(({ scores }, call, signal) =>
    scores.rank({ ...originOf(call), order: readCallBody(RankOrder, call.body) }, signal),
  ),
  moderation: json(({ scores }, call, signal) =>
    scores.moderate({ ...originOf(call), order: readCallBody(ModerationOrder, call.body) }, signal),
  ),
  speech: {
    stream: async ({ speech }, call, signal) =>
      speech.speak({ ...originOf(call), text: readCallBody(SpokenText, call.body) }, signal),
  },
  transcription: transcripts('transcription'),
  translation: transcripts('translation'),
  image: images(({ body }) => ({ kind: 'image', order: readCallBody(ImageOrder, body) })),
  'image-edit': images(({ body, files = [] }) => ({
    kind: 'image-edit',
    order: readCallBody(ImageEdit, body),
    files,
  })),
  'image-upscale': changes('image-upscale'),
  'image-cutout': changes('image-cutout'),
  rpc: nodes(false),
  'rpc-send': nodes(true),
  'job-submit': json(({ jobs }, call, signal) =>
    jobs.submit({ ...originOf(call), order: readCallBody(MediaOrder, call.body) }, signal),
  ),
  'job-status': json(({ jobs }, call, signal) => jobs.status(jobCall(call), signal)),
  'job-content': { stream: async ({ jobs }, call, signal) => jobs.content(jobCall(call), signal) },
  'job-cancel': {
    complete: async ({ jobs }, call, signal) => ({
      ...(await jobs.cancel(jobCall(call), signal)),
      body: '{}',
    }),
  },
  'tee-attestation': json(({ enclaves }, call, signal) => {
    const { backend, body } = call;
    const only = backend === undefined ? {} : { backend };
    return enclaves.report({ ...originOf(call), ...only, ...readCallBody(AttestationCall, body) }, signal);
  }),
  'tee-signature': json(({ enclaves }, call, signal) =>
    enclaves.signature({ ...originOf(call), signed: readCallBody(SignatureCall, call.body) }, signal),
  ),
};

/** Makes a call that another process has sent, by the port of its kind. */
export const completeFor: Serve<Completion> = async (router, call, signal) => {
  const { kind = 'chat' } = call;
  const { complete } = SERVINGS[kind];
  if (!complete) throw faulty(`a call of kind ${kind} is streamed`);
  return complete(router, call, signal);
};

/** The same for a call whose response is streamed. */
export const streamFor: Serve<ChunkStream> = async (router, call, signal) => {
  const { kind = 'chat' } = call;
  const { stream } = SERVINGS[kind];
  if (!stream) throw faulty(`a call of kind ${kind} is not streamed`);
  return stream(router, call, signal);
};

const originOf = ({ requestId, accountId, model }: CallOrigin): CallOrigin => ({
  requestId,
  accountId,
  model,
});

function audioOf({ body, files: [file] = [] }: WireCall): Pick<TranscriptionCall, 'audio' | 'file'> {
  if (!file) throw faulty('the call has no file');
  return { audio: readCallBody(AudioToTranscribe, body), file };
}

function jobCall(call: WireCall): JobCall {
  const { backend } = call;
  if (backend === undefined) throw faulty('the call names no backend');
  return { ...originOf(call), backend, ...readCallBody(BackendJob, call.body) };
}

function networkCall({ model, body, ...others }: WireCall): Omit<NetworkCall, 'isSend'> {
  const network = networkOfNodes(model);
  if (network === undefined) throw faulty('the call has no network');
  const { requestId, accountId, backend, exceptBackend } = others;
  return {
    requestId,
    accountId,
    network,
    body,
    ...(backend !== undefined && { backend }),
    ...(exceptBackend !== undefined && { exceptBackend }),
  };
}

const faulty = (why: string): Problem => new Problem('INVALID_REQUEST', { cause: new TypeError(why) });
