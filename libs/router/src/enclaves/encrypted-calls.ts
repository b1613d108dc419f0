import type { LiveBackend } from '@svc/backend-calls';
import {
  type ChunkStream,
  EnclaveReports,
  type ChatCall,
  type ReportCall,
  type Served,
  type SignedCall,
} from '@svc/contracts/inference';
import type { EnclaveReport, EnclaveSignature } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { bytesOf } from '../models/call-body.js';
import type { ModelCalls, StreamPlan } from '../models/model-calls.js';
import type { ChatDialect } from '../dialect/dialect.js';
import { firstEvent } from '../chat/backend-events.js';
import { attestedKeyOf } from './attested-key.js';
import { CompletionIds } from './completion-ids.js';
import { attestationMode, isEnclave, ownAttestation, signatureMode } from './tee-calls.js';

/** For all callers that wait for the report of a backend. */
const ATTESTATION_TIMEOUT_MS = 15_000;

/** How the beginning of a chat is read at a backend; `undefined` if it must not be called. */
export type ChatBeginning = (chat: ChatDialect, live: LiveBackend) => StreamPlan['first'] | undefined;

/** Streams a chat from a backend. */
type ChatStreams = (call: ChatCall, signal: AbortSignal, beginning: ChatBeginning) => Promise<ChunkStream>;

/** Chats whose texts are encrypted, and what enclaves say about themselves and about them. */
export class EncryptedCalls extends EnclaveReports {
  private readonly completionIds = new CompletionIds();

  constructor(
    private readonly calls: ModelCalls,
    private readonly streamed: ChatStreams,
  ) {
    super();
  }

  /** Calls only backends that hold the key. Throws E2EE_ATTESTATION_STALE if none of them does. */
  async stream(call: ChatCall, modelKey: string, signal: AbortSignal): Promise<ChunkStream> {
    const { model, requestId } = call;
    const holdsKey = (live: LiveBackend): boolean => attestedKeyOf(live).isKnown(live.backend.tee, modelKey);
    await this.findKey(model, holdsKey);
    try {
      return await this.streamed(call, signal, (chat, live) => {
        if (!holdsKey(live)) return undefined;
        return async (exchange) => {
          const bytes = await firstEvent(exchange, chat);
          this.completionIds.keep(requestId, live.name, bytes);
          return bytes;
        };
      });
    } catch (error) {
      const { code } = Problem.from(error);
      if (signal.aborted || code === 'MODEL_AT_CAPACITY') throw error;
      // A backend that was restarted holds another key.
      for (const live of this.enclavesOf(model)) if (holdsKey(live)) attestedKeyOf(live).invalidate();
      if (code === 'INVALID_REQUEST') await this.findKey(model, holdsKey);
      throw error;
    }
  }

  override report({ nonce, ...call }: ReportCall, signal: AbortSignal): Promise<Served<EnclaveReport>> {
    const routed = { ...call, kind: 'tee-attestation' as const, body: () => bytesOf({ nonce }) };
    return this.calls.first(routed, signal, attestationMode(nonce));
  }

  override signature(
    { signed, ...call }: SignedCall,
    signal: AbortSignal,
  ): Promise<Served<EnclaveSignature>> {
    const { id, ...only } = this.completionIds.find(signed.requestId);
    const routed = { ...call, ...only, kind: 'tee-signature' as const, body: () => bytesOf(signed) };
    return this.calls.first(routed, signal, signatureMode(id, signed.algorithm));
  }

  /** Attests the backends that have not reported lately, unless one is known to hold the key. */
  private async findKey(model: string, holdsKey: (live: LiveBackend) => boolean): Promise<void> {
    const enclaves = this.enclavesOf(model);
    if (enclaves.some(holdsKey)) return;
    const isKnown = (live: LiveBackend): boolean => attestedKeyOf(live).isKnown(live.backend.tee);
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
    return attestedKeyOf(live).learn(() => this.report(call, signal));
  }

  private enclavesOf(model: string): LiveBackend[] {
    const { catalog, backends } = this.calls;
    return backends.pool.candidates(catalog.backendsOf(model)).filter(isEnclave);
  }
}
