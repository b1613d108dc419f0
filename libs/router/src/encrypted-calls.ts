import type { ChunkStream, Completion, InferenceCall } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { SignatureCall } from '@svc/contracts/messages';
import type { LiveBackend } from './backends/backend-pool.js';
import { readCallBody } from './backends/call-body.js';
import type { CallMode } from './backends/call-mode.js';
import { attestationMode, isEnclave, ownAttestation, signatureMode } from './tee-calls.js';
import { CompletionIds } from './enclaves/completion-ids.js';

/** For all callers that wait for the report of a backend. */
const ATTESTATION_TIMEOUT_MS = 15_000;

/** How a stream begins, and at which backends. */
export interface StreamStart extends Pick<CallMode<never>, 'serves'> {
  /** Reads the beginning of a response that is not an error, and returns all bytes that arrived. */
  readonly first: CallMode<readonly Buffer[]>['take'];
}

/** Calls a backend in a given mode. */
type Calling<Mode, Result> = (call: InferenceCall, signal: AbortSignal, mode: Mode) => Promise<Result>;

/** Chats whose texts are encrypted, and what enclaves have signed about them. */
export class EncryptedCalls {
  private readonly completionIds = new CompletionIds();

  constructor(
    private readonly backendsOf: (model: string) => readonly LiveBackend[],
    private readonly streamed: Calling<StreamStart, ChunkStream>,
    private readonly completed: Calling<CallMode<{ readonly body: string }>, Completion>,
  ) {}

  /** Calls only backends that hold the key. Throws E2EE_ATTESTATION_STALE if none of them does. */
  async stream(call: InferenceCall, modelKey: string, signal: AbortSignal): Promise<ChunkStream> {
    const { model, requestId } = call;
    const holdsKey = ({ attested, backend }: LiveBackend): boolean => attested.isKnown(backend.tee, modelKey);
    await this.findKey(model, holdsKey);
    try {
      return await this.streamed(call, signal, {
        serves: holdsKey,
        first: async (exchange, { dialect, name }) => {
          const bytes = await dialect.firstEvent(exchange);
          this.completionIds.keep(requestId, name, bytes);
          return bytes;
        },
      });
    } catch (error) {
      const { code } = Problem.from(error);
      if (signal.aborted || code === 'MODEL_AT_CAPACITY') throw error;
      // A backend that was restarted holds another key.
      for (const live of this.enclavesOf(model)) if (holdsKey(live)) live.attested.invalidate();
      if (code === 'INVALID_REQUEST') await this.findKey(model, holdsKey);
      throw error;
    }
  }

  signature(call: InferenceCall, signal: AbortSignal): Promise<Completion> {
    const { requestId, algorithm } = readCallBody(SignatureCall, call.body);
    const { id, ...only } = this.completionIds.find(requestId);
    return this.completed({ ...call, ...only }, signal, signatureMode(id, algorithm));
  }

  /** Attests the backends that have not reported lately, unless one is known to hold the key. */
  private async findKey(model: string, holdsKey: (live: LiveBackend) => boolean): Promise<void> {
    const enclaves = this.enclavesOf(model);
    if (enclaves.some(holdsKey)) return;
    const isKnown = ({ attested, backend }: LiveBackend): boolean => attested.isKnown(backend.tee);
    const unknown = enclaves.filter((live) => !isKnown(live));
    const results = await Promise.allSettled(unknown.map((live) => this.attest(model, live)));
    if (enclaves.some(holdsKey)) return;
    if (enclaves.some(isKnown)) throw new Problem('E2EE_ATTESTATION_STALE');
    const failed = results.find((each) => each.status === 'rejected');
    throw new Problem('MODEL_OFFLINE', { cause: failed?.reason });
  }

  private attest(model: string, live: LiveBackend): Promise<void> {
    const call = ownAttestation(model, live);
    const signal = AbortSignal.timeout(ATTESTATION_TIMEOUT_MS);
    return live.attested.learn(() => this.completed(call, signal, attestationMode(call)));
  }

  private enclavesOf(model: string): LiveBackend[] {
    return this.backendsOf(model).filter(isEnclave);
  }
}
