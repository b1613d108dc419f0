/**
 * Every attribute of a span. Nothing else is exported: never a prompt, a completion, a key, a query, or the
 * address of a client.
 *
 * Names are those of https://opentelemetry.io/docs/specs/semconv/, version 1.44.0; `svc.*` are our own.
 */
export interface SpanAttributes {
  'error.type'?: string | undefined;

  'http.request.method'?: string | undefined;
  'http.route'?: string | undefined;
  'http.response.status_code'?: number | undefined;

  'gen_ai.operation.name'?:
    | 'chat'
    | 'embeddings'
    | 'rerank'
    | 'moderation'
    | 'speech'
    | 'transcription'
    | 'translation'
    | 'image'
    | 'generate_content'
    | undefined;
  'gen_ai.provider.name'?: 'svc' | undefined;
  'gen_ai.request.model'?: string | undefined;
  'gen_ai.request.stream'?: boolean | undefined;
  'gen_ai.response.time_to_first_chunk'?: number | undefined;
  'gen_ai.usage.input_tokens'?: number | undefined;
  'gen_ai.usage.output_tokens'?: number | undefined;

  'messaging.system'?: 'kafka' | 'postgresql' | 'bullmq' | undefined;
  'messaging.operation.type'?: 'send' | 'process' | undefined;
  'messaging.destination.name'?: string | undefined;
  'messaging.consumer.group.name'?: string | undefined;
  'messaging.batch.message_count'?: number | undefined;

  /** The id of the request, as in `CF-RAY` and the ledger. */
  'svc.request.id'?: string | undefined;
  'svc.account.id'?: string | undefined;
  'svc.key.id'?: string | undefined;
  /** A backend's name in the catalogue. */
  'svc.backend'?: string | undefined;
  'svc.job'?: string | undefined;
  /** The number of the backend called, or of a job's attempt, from 1. */
  'svc.attempt'?: number | undefined;
  'svc.cost.usd'?: string | undefined;
  'svc.cost.diem'?: string | undefined;
  /** How a response ended, if its status does not show it. */
  'svc.ended'?: string | undefined;
  /** The code of the problem that the client received. */
  'svc.problem'?: string | undefined;
  /** Why a trace that was not sampled is kept. */
  'svc.kept'?: 'failed' | 'slow' | undefined;
  /** The number of steps beyond a trace's limit. */
  'svc.steps.left_out'?: number | undefined;
}
