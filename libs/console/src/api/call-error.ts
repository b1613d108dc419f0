/** A response that is not a success, or none at all. */
export class CallError extends Error {
  override readonly name = 'CallError';

  constructor(
    message: string,
    readonly details: {
      /** 0 if there was no response. */
      readonly status: number;
      readonly code?: string | undefined;
      readonly requestId?: string | undefined;
      readonly retryAfterSeconds?: number | undefined;
      /** The body as JSON, if it was any. */
      readonly body?: unknown;
    },
  ) {
    super(message);
  }

  get status(): number {
    return this.details.status;
  }

  get code(): string | undefined {
    return this.details.code;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The message and code of an error's body, in each form that routes have. */
export function errorTexts(body: unknown): { message?: string | undefined; code?: string | undefined } {
  if (!isRecord(body)) return {};
  const { error } = body;
  const inner = isRecord(error) ? error : {};
  return {
    message: textOf(inner['message']) ?? textOf(body['message']) ?? textOf(error),
    code: textOf(body['code']) ?? textOf(inner['code']),
  };
}

/** The faults of a request by the name of their field; a fault within a field counts for the field. */
export function faultsOf(error: unknown): ReadonlyMap<string, string> {
  const body = error instanceof CallError ? error.details.body : undefined;
  const issues = isRecord(body) && Array.isArray(body['issues']) ? (body['issues'] as unknown[]) : [];
  return new Map(
    issues.filter(isRecord).map(({ path, message }) => {
      const [name] = Array.isArray(path) ? (path as unknown[]) : [];
      return [textOf(name) ?? '', textOf(message) ?? 'is not valid'];
    }),
  );
}

export async function errorOf(response: Response): Promise<CallError> {
  const body: unknown = await response.json().catch(() => undefined);
  const { message, code } = errorTexts(body);
  const retryAfter = Number(response.headers.get('retry-after'));
  return new CallError(message ?? `The service responded with status ${response.status}.`, {
    status: response.status,
    code,
    body,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfter > 0 ? retryAfter : undefined,
  });
}
