import { BackendError, type PlannedRequest, errorStatus } from '@svc/backend-calls';
import type { RankOrder, Ranks } from '@svc/contracts/inference';
import { RESPONSE_JSON_LIMITS, type ResponseHeaders, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';

/** How servers of a kind differ in ranking documents. */
interface RerankForm {
  /** The member of a request that has the documents. */
  readonly documents: 'documents' | 'texts';
  /** Further fields of a request that the server gets. */
  readonly fields: ReadonlySet<string>;
  /** Whether a call may have at most `maxBatch` documents. */
  readonly isBatched?: true;
  /** The ranks in a response: objects with an index and the score. */
  readonly results: (response: unknown) => unknown;
  readonly score: 'relevance_score' | 'score';
  /** The header with the tokens that were computed; by default `usage` has them. */
  readonly tokensHeader?: string;
}

/** Calls of a kind's servers that rank documents. */
export interface RerankDialect extends Pick<RerankForm, 'fields' | 'isBatched'> {
  readonly request: (model: string, order: RankOrder) => PlannedRequest;
  /** The scores of all documents. Throws unless there is one finite number for each. */
  readonly read: (
    response: { readonly body: string; readonly headers: ResponseHeaders },
    documents: number,
  ) => Ranks;
}

const Count = z.int().nonnegative().optional().catch(undefined);

/** What servers count. vLLM before 0.11 and infinity may have only a total. */
const Counts = z.object({
  usage: z.object({ prompt_tokens: Count, total_tokens: Count }).optional().catch(undefined),
  meta: z
    .object({ billed_units: z.object({ search_units: Count }) })
    .optional()
    .catch(undefined),
});

const memberOf = (name: string) => (response: unknown) =>
  z.record(z.string(), z.unknown()).safeParse(response).data?.[name];

/** That of Jina, as vLLM, infinity and llama.cpp have it. */
const JINA: RerankForm = {
  documents: 'documents',
  fields: new Set(['max_tokens_per_doc', 'truncate_prompt_tokens']),
  results: memberOf('results'),
  score: 'relevance_score',
};

const FORMS = {
  openai: JINA,
  cohere: { ...JINA, fields: new Set(['max_tokens_per_doc']) },
  tei: {
    documents: 'texts',
    fields: new Set(['truncate', 'truncation_direction']),
    isBatched: true,
    results: (response) => response,
    score: 'score',
    tokensHeader: 'x-compute-tokens',
  },
} as const satisfies Record<string, RerankForm>;

/** Ranking at servers of this form. All results are requested, so that each can be checked. */
export function rerankOf(name: keyof typeof FORMS): RerankDialect {
  const form: RerankForm = FORMS[name];
  return {
    fields: form.fields,
    ...(form.isBatched && { isBatched: form.isBatched }),
    request(model, { query, documents, others }) {
      const body = { ...others, model, query, [form.documents]: documents };
      return { path: '/rerank', body: [Buffer.from(JSON.stringify(body))] };
    },
    read({ body, headers }, documents) {
      const response = jsonOrUndefined(body, RESPONSE_JSON_LIMITS);
      const scores = scoresIn(form.results(response), form.score, documents);
      if (scores === undefined) {
        const status = errorStatus(body);
        throw status === undefined
          ? new Error('the response has no results')
          : new BackendError(status, body);
      }
      const { usage, meta } = Counts.safeParse(response).data ?? {};
      const promptTokens =
        form.tokensHeader === undefined
          ? (usage?.prompt_tokens ?? usage?.total_tokens)
          : Count.parse(Number(headers[form.tokensHeader]));
      const searches = meta?.billed_units.search_units;
      return {
        scores,
        ...(promptTokens !== undefined && { promptTokens }),
        ...(searches !== undefined && { searches }),
      };
    },
  };
}

/** The score of each document; undefined if these are no results at all. */
function scoresIn(found: unknown, score: RerankForm['score'], documents: number): number[] | undefined {
  const results = z.array(z.record(z.string(), z.unknown())).safeParse(found);
  if (!results.success) return undefined;
  if (results.data.length !== documents)
    throw new Error(`the response has ${results.data.length} results for ${documents} documents`);
  const byIndex = new Map(results.data.map((result) => [result['index'], result[score]]));
  return Array.from({ length: documents }, (_, index) => {
    const value = byIndex.get(index);
    if (typeof value !== 'number' || !Number.isFinite(value))
      throw new Error(`the response has no finite score for document ${index}`);
    return value;
  });
}
