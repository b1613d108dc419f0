import type { z } from 'zod';
import type { BillingEntry } from '@svc/api/billing';

interface Period {
  lookback?: string;
  startDate?: string;
  endDate?: string;
}
interface Route<M extends string, P extends string, R> {
  method: M;
  path: P;
  reply: z.ZodType<R>;
}

interface DailyRow {
  date: string;
  apiKeyId: string | null;
  description: string;
  modelName: string;
  modelType: string | null;
  usd: number;
  diem: number;
  inputTokens: number | null;
  outputTokens: number | null;
  cacheReadTokens: number | null;
  cacheWriteTokens: number | null;
}

interface RequestRow {
  requestId: string;
  timestamp: string;
  modelName: string;
  apiKeyId: string | null;
  description: string;
  usd: number;
  diem: number;
  promptTokens: number | null;
  completionTokens: number | null;
  durationMs: number | null;
  lines: BillingEntry[];
}

/** Routes of the console that the API does not have yet. */
export type ComingRoutes =
  | (Route<'GET', '/api/v1/billing/usage-analytics/daily', { lookback: string; data: DailyRow[] }> & {
      query: z.ZodType<
        Period & { apiKeyId?: string; model?: string },
        Period & { apiKeyId?: string; model?: string }
      >;
    })
  | (Route<'GET', '/api/v1/billing/requests', { data: RequestRow[]; nextCursor: string | null }> & {
      query: z.ZodType<RequestsQuery, RequestsQuery>;
    });

interface RequestsQuery {
  startTimestamp?: string;
  endTimestamp?: string;
  apiKeyId?: string;
  model?: string;
  requestId?: string;
  limit?: number;
  cursor?: string;
}
