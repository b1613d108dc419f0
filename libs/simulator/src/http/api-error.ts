/** An error in the shape of OpenAI's API: an HTTP status and `{error: {message, type, param, code}}`. */
export class ApiError extends Error {
  readonly param: string | null;
  readonly code: string | null;
  readonly retryAfterS: number | undefined;

  constructor(
    readonly status: number,
    message: string,
    detail: { param?: string; code?: string; retryAfterS?: number } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.param = detail.param ?? null;
    this.code = detail.code ?? null;
    this.retryAfterS = detail.retryAfterS;
  }

  /** The response body. */
  body(): string {
    return JSON.stringify({
      error: {
        message: this.message,
        type: errorType(this.status, this.code),
        param: this.param,
        code: this.code,
      },
    });
  }
}

/** A 400 that names the faulty field. */
export function invalidRequest(message: string, param?: string, code?: string): ApiError {
  return new ApiError(400, message, {
    ...(param !== undefined && { param }),
    ...(code !== undefined && { code }),
  });
}

/** The error for a prompt that exceeds the context. */
export function contextExceeded(contextTokens: number, promptTokens: number): ApiError {
  const message = `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${promptTokens} tokens. Please reduce the length of the messages.`;
  return invalidRequest(message, 'messages', 'context_length_exceeded');
}

function errorType(status: number, code: string | null): string {
  if (status === 429) return code === 'insufficient_quota' ? 'insufficient_quota' : 'rate_limit_error';
  if (status === 503) return 'service_unavailable';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
