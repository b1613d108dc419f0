import type { FastifyInstance } from 'fastify';
import { invalidRequest } from '../http/api-error.js';
import { parseJson } from '../request/chat-request.js';
import { faultError } from '../request/faults.js';
import { type Overrides, overridesOfModel } from '../request/overrides.js';
import { countTokens } from '../tokenizer.js';

const DEFAULT_RETRY_S = 1;

/**
 * Serves the ranking of documents, as Jina, vLLM and others do: a document's score is the share of the
 * query's words that it has. And OpenAI's moderations, which flag the word `kill` as violence. Faults follow
 * the model's name, as in `rerank;fault=500`.
 */
export function addScoreRoutes(app: FastifyInstance, takeDefaults: () => Overrides): void {
  app.post('/v1/rerank', ({ body: text }) => {
    const { query, documents, model, body } = readCall(typeof text === 'string' ? text : '');
    refuseByFault(model, takeDefaults());
    const words = wordsOf(query);
    const results = documents.map((document, index) => {
      const found = wordsOf(document);
      const shared = [...words].filter((word) => found.has(word)).length;
      return { index, relevance_score: shared / Math.max(words.size, 1), document: { text: document } };
    });
    const tokens = documents.reduce((sum, document) => sum + countTokens(`${query} ${document}`), 0);
    return {
      model,
      results: results
        .toSorted((a, b) => b.relevance_score - a.relevance_score)
        .slice(0, Number(body['top_n'] ?? documents.length)),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    };
  });
  app.post('/v1/moderations', ({ body: text }) => {
    const { input, model = '' } = parseJson(typeof text === 'string' ? text : '');
    refuseByFault(String(model), takeDefaults());
    const isList = Array.isArray(input) && input.every((one) => typeof one === 'string');
    const results = (isList ? input : [input]).map((one) => {
      const violence = wordsOf(JSON.stringify(one ?? '')).has('kill');
      return {
        flagged: violence,
        categories: { violence },
        category_scores: { violence: violence ? 0.9 : 0 },
      };
    });
    return { id: 'modr-1', model, results };
  });
}

function readCall(text: string) {
  const body = parseJson(text);
  const { query, documents, model } = body;
  if (typeof model !== 'string') throw invalidRequest("'model' is required.", 'model');
  if (typeof query !== 'string') throw invalidRequest("'query' must be a string.", 'query');
  if (!Array.isArray(documents) || !documents.every((one) => typeof one === 'string'))
    throw invalidRequest("'documents' must be a list of strings.", 'documents');
  return { query, documents, model, body };
}

function refuseByFault(model: string, defaults: Overrides): void {
  const { overrides } = overridesOfModel(model);
  const faults = new Set([...(overrides.faults ?? []), ...(defaults.faults ?? [])]);
  const refusal = faultError(faults, defaults.retryAfterS ?? DEFAULT_RETRY_S);
  if (refusal) throw refusal;
}

const wordsOf = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
