import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import { ApiError, invalidRequest } from './http/api-error.js';
import { serveChat } from './engine/chat.js';
import { isObject } from './request/chat-request.js';
import { overridesOfJson } from './request/overrides.js';
import { addEnclaveRoutes } from './enclave/serve-enclave.js';
import { addEmbeddingRoutes } from './embeddings/serve-embeddings.js';
import { addScoreRoutes } from './scores/serve-scores.js';
import { addSpeechRoutes } from './speech/serve-speech.js';
import { addTranscriptionRoutes } from './transcriptions/serve-transcriptions.js';
import { addImageRoutes } from './images/serve-images.js';
import { addSearchRoutes } from './search/serve-search.js';
import { addVideoRoutes } from './videos/serve-videos.js';
import type { Simulation } from './engine/simulation.js';

const BODY_LIMIT = 64 * 1024 * 1024;
/**
 * Longer than common clients keep idle connections, so that the client closes first and no request meets a
 * closed socket.
 */
const KEEP_ALIVE_MS = 75_000;
const DEFAULT_MODELS = ['llama-3.2-3b', 'sim-tools', 'sim-think', 'sim-reason'];
/** Unix seconds; fixed, since these models were never trained. */
const MODEL_CREATED = 1_767_225_600;

/** Builds the HTTP server of a simulation; the caller starts it. */
export function buildServer(simulation: Simulation): FastifyInstance {
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    http: { noDelay: true },
  });
  app.removeAllContentTypeParsers();
  // The text is kept as received, for the log; each route parses it itself.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, _request, reply) => {
    const refusal = toApiError(error);
    return reply.code(refusal.status).type('application/json; charset=utf-8').send(refusal.body());
  });
  app.setNotFoundHandler((request, reply) => {
    const refusal = new ApiError(404, `Unknown request URL: ${request.method} ${request.url}.`, {
      code: 'unknown_url',
    });
    return reply.code(404).type('application/json; charset=utf-8').send(refusal.body());
  });
  app.post('/v1/chat/completions', (request, reply) => {
    reply.hijack();
    return serveChat(simulation, { request: request.raw, text: textOf(request.body) }, reply.raw);
  });
  addModelRoutes(app, simulation);
  addOwnRoutes(app, simulation);
  addEmbeddingRoutes(app, () => simulation.takeDefaults());
  addScoreRoutes(app, () => simulation.takeDefaults());
  addSpeechRoutes(app, simulation);
  addTranscriptionRoutes(app, simulation);
  addImageRoutes(app, () => simulation.takeDefaults());
  addVideoRoutes(app, () => simulation.takeDefaults());
  addEnclaveRoutes(app, simulation.enclave);
  addSearchRoutes(app);
  return app;
}

function addModelRoutes(app: FastifyInstance, { options }: Simulation): void {
  const ids = options.models ?? DEFAULT_MODELS;
  const describe = (id: string): object => ({
    id,
    object: 'model',
    created: MODEL_CREATED,
    owned_by: 'model-simulator',
  });
  app.get('/v1/models', () => ({ object: 'list', data: ids.map(describe) }));
  app.get<{ Params: { id: string } }>('/v1/models/:id', ({ params }) => {
    if (options.models === undefined || ids.includes(params.id)) return describe(params.id);
    throw new ApiError(404, `The model '${params.id}' does not exist.`, {
      param: 'model',
      code: 'model_not_found',
    });
  });
  app.get('/healthz', () => ({ status: 'ok' }));
}

function addOwnRoutes(app: FastifyInstance, simulation: Simulation): void {
  app.get('/sim/cancellations', () => ({ data: simulation.log.cancellations() }));
  app.get('/sim/requests', () => ({ data: simulation.log.requests() }));
  app.get('/sim/stats', () => simulation.stats());
  app.delete('/sim/log', (_request, reply) => {
    simulation.clear();
    return reply.code(204).send();
  });
  app.get('/sim/faults', () => simulation.peekDefaults());
  app.put('/sim/faults', (request) => {
    const { count, defaults } = readDefaults(textOf(request.body));
    simulation.setDefaults(defaults, count);
    return simulation.peekDefaults();
  });
}

function readDefaults(text: string): { count: number; defaults: ReturnType<typeof overridesOfJson> } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalidRequest('The body must be JSON.');
  }
  if (!isObject(body)) throw invalidRequest('The body must be a JSON object.');
  const { count = Number.POSITIVE_INFINITY, ...rest } = body;
  if (typeof count !== 'number' || !(count >= 0))
    throw invalidRequest("'count' must be a number of requests.", 'count');
  return { count, defaults: overridesOfJson(rest) };
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : '';
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const status = isObject(error) && typeof error['statusCode'] === 'number' ? error['statusCode'] : 500;
  return new ApiError(status, error instanceof Error ? error.message : 'The simulator failed.');
}
