import type { FastifyInstance } from 'fastify';
import { invalidRequest } from '../http/api-error.js';
import type { SimulatedEnclave } from './enclave.js';

interface AlgorithmQuery {
  readonly signing_algo?: string;
}

/** The routes of vllm-proxy about the enclave and what it has signed. */
export function addEnclaveRoutes(app: FastifyInstance, enclave: SimulatedEnclave): void {
  app.get<{ Querystring: AlgorithmQuery & { model?: string; nonce?: string } }>(
    '/v1/attestation/report',
    ({ query: { model = '', nonce, signing_algo: algorithm } }) => {
      demandEcdsa(algorithm);
      return enclave.report(model, nonce);
    },
  );
  app.get<{ Params: { id: string }; Querystring: AlgorithmQuery }>(
    '/v1/signature/:id',
    ({ params, query }) => {
      demandEcdsa(query.signing_algo);
      return enclave.signature(params.id);
    },
  );
}

function demandEcdsa(algorithm = 'ecdsa'): void {
  if (algorithm !== 'ecdsa') throw invalidRequest("Invalid signing algorithm. Must be 'ecdsa'");
}
