import { rpcModel } from '@svc/catalog';
import {
  AudioToTranscribe,
  type ChunkStream,
  type Completion,
  EmbeddingTexts,
  ImageEdit,
  ImageOrder,
  type ImageWork,
  type NetworkCall,
  PictureChange,
  type Served,
  type TranscriptionCall,
  type WireCall,
} from '@svc/contracts/inference';
import { AttestationCall, SignatureCall } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import type { RouterPorts } from './router-ports.js';
import { readCallBody } from '../backends/call-body.js';
import { isImageCall } from '../backends/image-call.js';

/** Makes a call that another process has sent, by the port of its kind. */
export async function completeFor(
  router: RouterPorts,
  call: WireCall,
  signal: AbortSignal,
): Promise<Completion> {
  const { kind, body, files = [], requestId, accountId, model, backend } = call;
  const origin = { requestId, accountId, model };
  if (kind !== undefined && isImageCall(kind))
    return sent(await router.images.make({ ...origin, ...workOf(kind, body, files) }, signal));
  switch (kind) {
    case 'embeddings':
      return sent(
        await router.embeddings.vectors({ ...origin, texts: readCallBody(EmbeddingTexts, body) }, signal),
      );
    case 'tee-attestation': {
      const only = backend === undefined ? {} : { backend };
      return sent(
        await router.enclaves.report({ ...origin, ...only, ...readCallBody(AttestationCall, body) }, signal),
      );
    }
    case 'transcription':
    case 'translation':
      return sent(await router.transcriptions.transcribe({ ...origin, kind, ...audioOf(call) }, signal));
    case 'rpc':
    case 'rpc-send': {
      const { result, ...servedBy } = await router.nodes.call(networkCall(call), signal);
      return { ...servedBy, body: result };
    }
    case 'tee-signature':
      return sent(
        await router.enclaves.signature({ ...origin, signed: readCallBody(SignatureCall, body) }, signal),
      );
    case undefined:
    case 'chat':
    case 'speech':
    case 'job-submit':
    case 'job-status':
    case 'job-content':
    case 'job-cancel':
      return router.complete({ ...call, kind }, signal);
  }
}

/** The same for a call whose response is streamed. */
export function streamFor(router: RouterPorts, call: WireCall, signal: AbortSignal): Promise<ChunkStream> {
  const { kind } = call;
  switch (kind) {
    case 'embeddings':
    case 'image':
    case 'image-edit':
    case 'image-upscale':
    case 'image-cutout':
    case 'transcription':
    case 'translation':
    case 'rpc':
    case 'rpc-send':
    case 'tee-attestation':
    case 'tee-signature': {
      const cause = new TypeError(`a call of kind ${kind} is not streamed`);
      return Promise.reject(new Problem('INVALID_REQUEST', { cause }));
    }
    case undefined:
    case 'chat':
    case 'speech':
    case 'job-submit':
    case 'job-status':
    case 'job-content':
    case 'job-cancel':
      return router.stream({ ...call, kind }, signal);
  }
}

function workOf(
  kind: ImageWork['kind'],
  body: WireCall['body'],
  files: NonNullable<WireCall['files']>,
): ImageWork {
  if (kind === 'image') return { kind, order: readCallBody(ImageOrder, body) };
  if (kind === 'image-edit') return { kind, order: readCallBody(ImageEdit, body), files };
  return { kind, order: readCallBody(PictureChange, body), files };
}

function audioOf({ body, files: [file] = [] }: WireCall): Pick<TranscriptionCall, 'audio' | 'file'> {
  if (!file) throw new Problem('INVALID_REQUEST', { cause: new TypeError('the call has no file') });
  return { audio: readCallBody(AudioToTranscribe, body), file };
}

/** On the wire a network is named as the catalogue names its nodes. */
function networkCall({ kind, model, body, ...others }: WireCall): NetworkCall {
  const prefix = rpcModel('');
  if (!model.startsWith(prefix))
    throw new Problem('INVALID_REQUEST', { cause: new TypeError('the call has no network') });
  const { requestId, accountId, backend, exceptBackend } = others;
  return {
    requestId,
    accountId,
    network: model.slice(prefix.length),
    body,
    isSend: kind === 'rpc-send',
    ...(backend !== undefined && { backend }),
    ...(exceptBackend !== undefined && { exceptBackend }),
  };
}

function sent({ result, ...servedBy }: Served<object>): Completion {
  return { ...servedBy, body: JSON.stringify(result) };
}
