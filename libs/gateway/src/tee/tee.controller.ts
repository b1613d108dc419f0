import { randomBytes } from 'node:crypto';
import { Controller, Query, Req } from '@nestjs/common';
import { Catalog, type Model } from '@svc/catalog';
import {
  type AttestationCall,
  EnclaveReport,
  EnclaveSignature,
  type SignatureCall,
} from '@svc/contracts/messages';
import { type InferenceCall, InferenceRouter } from '@svc/contracts/inference';
import { Problem, type ProblemCode, invalidRequest } from '@svc/contracts/problems';
import type { TeeAttestation, TeeQuery, TeeSignature, TeeSignatureQuery } from '@svc/api/tee';
import { routes } from '@svc/api';
import { Serves, whileConnected } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { findTextModel } from '@svc/paid/models';
import { attestationView } from './attestation-view.js';
import { NetworkLimit } from './network-limit.js';

const ROUTES = '/api/v1/tee';

/** Its calls share the slots of a backend as one account. */
const ACCOUNT_ID = 'attestation';

/** Failures that a client should simply wait for. */
const PASSING: ReadonlySet<ProblemCode> = new Set(['MODEL_OFFLINE', 'MODEL_AT_CAPACITY']);

/** Attests the enclaves of models. The gateway checks reports, and holds no key. */
@Controller()
export class TeeController {
  constructor(
    private readonly catalog: Catalog,
    private readonly router: InferenceRouter,
    private readonly limit: NetworkLimit,
  ) {}

  @Serves(routes.teeAttestation)
  async attestation(@Req() request: FastifyRequest, @Query() query: TeeQuery): Promise<TeeAttestation> {
    await this.limit.take(request, ROUTES);
    const { id: model } = this.enclaveModel(query.model);
    const startMs = performance.now();
    const nonce = query.nonce?.toLowerCase() ?? randomBytes(32).toString('hex');
    const body = await this.ask(request, 'TEE_ATTESTATION_FAILED', {
      kind: 'tee-attestation',
      model,
      body: bytesOf({ nonce } satisfies AttestationCall),
    });
    const durationMs = performance.now() - startMs;
    const report = EnclaveReport.parse(JSON.parse(body));
    return attestationView(report, { model, isOwnNonce: query.nonce === undefined, durationMs });
  }

  @Serves(routes.teeSignature)
  async signature(
    @Req() request: FastifyRequest,
    @Query() { model: name, request_id: requestId, signing_algo: algorithm = 'ecdsa' }: TeeSignatureQuery,
  ): Promise<TeeSignature> {
    await this.limit.take(request, ROUTES);
    const { id: model } = this.enclaveModel(name);
    const body = await this.ask(request, 'TEE_SIGNATURE_FAILED', {
      kind: 'tee-signature',
      model,
      body: bytesOf({ requestId, algorithm } satisfies SignatureCall),
    });
    const { text, textCovers, signature, address, ...signed } = EnclaveSignature.parse(JSON.parse(body));
    return {
      text,
      ...(textCovers && { text_covers: textCovers }),
      signature,
      signing_address: address,
      signing_algo: signed.algorithm,
      model,
      request_id: requestId,
      requested_request_id: requestId,
    };
  }

  /** Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, INVALID_REQUEST for a model without enclaves. */
  private enclaveModel(name: string): Model {
    const { model } = findTextModel(name, this.catalog);
    if (model.capabilities.supportsTeeAttestation) return model;
    const message = `${model.id} has no attested enclave`;
    throw invalidRequest([{ code: 'custom', path: ['model'], message }]);
  }

  /** The body of a router's response. Refuses: the given code, unless the client only has to wait. */
  private async ask(
    request: FastifyRequest,
    refusal: ProblemCode,
    call: Pick<InferenceCall, 'kind' | 'model' | 'body'>,
  ): Promise<string> {
    const whole = { ...call, requestId: request.id, accountId: ACCOUNT_ID };
    try {
      const { body } = await whileConnected(request, (signal) => this.router.complete(whole, signal));
      return body;
    } catch (error) {
      throw PASSING.has(Problem.from(error).code) ? error : new Problem(refusal, { cause: error });
    }
  }
}

function bytesOf(body: object): Uint8Array[] {
  return [Buffer.from(JSON.stringify(body))];
}
