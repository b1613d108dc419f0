import { randomBytes } from 'node:crypto';
import { Controller, Query, Req } from '@nestjs/common';
import { Catalog, type Model } from '@svc/catalog';
import { MINUTE_MS } from '@svc/contracts/ports';
import { type CallOrigin, EnclaveReports, type Served } from '@svc/contracts/inference';
import { Problem, type ProblemCode, invalidRequest } from '@svc/contracts/problems';
import type { TeeAttestation, TeeQuery, TeeSignature, TeeSignatureQuery } from '@svc/api/tee';
import { routes } from '@svc/api';
import { Serves, whileConnected } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { findTextModel } from '@svc/paid/models';
import { NetworkLimit } from '@svc/paid/limits';
import { attestationView } from './attestation-view.js';

const ROUTES = '/api/v1/tee';
/** Source: the public interface. */
const BOUND = { max: 10, windowMs: MINUTE_MS };

/** Its calls share the slots of a backend as one account. */
const ACCOUNT_ID = 'attestation';

/** Failures that a client should simply wait for. */
const PASSING: ReadonlySet<ProblemCode> = new Set(['MODEL_OFFLINE', 'MODEL_AT_CAPACITY']);

/** Attests the enclaves of models. The gateway checks reports, and holds no key. */
@Controller()
export class TeeController {
  constructor(
    private readonly catalog: Catalog,
    private readonly enclaves: EnclaveReports,
    private readonly limit: NetworkLimit,
  ) {}

  @Serves(routes.teeAttestation)
  async attestation(@Req() request: FastifyRequest, @Query() query: TeeQuery): Promise<TeeAttestation> {
    await this.limit.take(request, ROUTES, BOUND);
    const { id: model } = this.enclaveModel(query.model);
    const startMs = performance.now();
    const nonce = query.nonce?.toLowerCase() ?? randomBytes(32).toString('hex');
    const report = await this.ask(request, 'TEE_ATTESTATION_FAILED', (origin, signal) =>
      this.enclaves.report({ ...origin, model, nonce }, signal),
    );
    const durationMs = performance.now() - startMs;
    return attestationView(report, { model, isOwnNonce: query.nonce === undefined, durationMs });
  }

  @Serves(routes.teeSignature)
  async signature(
    @Req() request: FastifyRequest,
    @Query() { model: name, request_id: requestId, signing_algo: algorithm = 'ecdsa' }: TeeSignatureQuery,
  ): Promise<TeeSignature> {
    await this.limit.take(request, ROUTES, BOUND);
    const { id: model } = this.enclaveModel(name);
    const signature = await this.ask(request, 'TEE_SIGNATURE_FAILED', (origin, signal) =>
      this.enclaves.signature({ ...origin, model, signed: { requestId, algorithm } }, signal),
    );
    const { text, textCovers } = signature;
    return {
      text,
      ...(textCovers && { text_covers: textCovers }),
      signature: signature.signature,
      signing_address: signature.address,
      signing_algo: signature.algorithm,
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

  /** What enclaves say. Refuses: the given code, unless the client only has to wait. */
  private async ask<Result>(
    request: FastifyRequest,
    refusal: ProblemCode,
    call: (origin: Omit<CallOrigin, 'model'>, signal: AbortSignal) => Promise<Served<Result>>,
  ): Promise<Result> {
    const origin = { requestId: request.id, accountId: ACCOUNT_ID };
    try {
      return (await whileConnected(request, (signal) => call(origin, signal))).result;
    } catch (error) {
      throw PASSING.has(Problem.from(error).code) ? error : new Problem(refusal, { cause: error });
    }
  }
}
