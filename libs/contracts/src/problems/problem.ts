import { PROBLEMS, type ProblemCode, type ProblemKind, type ProblemRow } from './problems.js';

/**
 * What a request took this recently is provisional: the request may still be refused for another reason and
 * give it back. Later than that it is running.
 */
export const PROVISIONAL_MS = 1_000;

/** A fault found by a validator, in the flat form of the detailed error. */
export interface Issue {
  readonly code: string;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface ProblemDetails {
  /** Replaces the catalogue's message. */
  readonly message?: string;
  /** The faulty field of the request. */
  readonly param?: string;
  readonly issues?: readonly Issue[];
  /** Seconds after which a retry makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Replaces the envelope, if a protocol has its own body. */
  readonly body?: object;
  /** Whether the refusal may pass, as other requests may give back what they took within `PROVISIONAL_MS`. */
  readonly isProvisional?: boolean;
  /** Whether a content filter of the model's server has rejected the request. */
  readonly isFiltered?: boolean;
  /** The cause. For logs only, never for the client. */
  readonly cause?: unknown;
}

/** An error that is reported to a client. Its code is a row of the catalogue `PROBLEMS`. */
export class Problem extends Error {
  readonly status: number;
  readonly kind: ProblemKind;
  readonly param: string | null;
  readonly issues: readonly Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isRepeatWanted: boolean;
  readonly isProvisional: boolean;
  readonly isFiltered: boolean;
  readonly body: object | undefined;

  constructor(
    readonly code: ProblemCode,
    details: ProblemDetails = {},
  ) {
    const row: ProblemRow = PROBLEMS[code];
    super(details.message ?? row.message, { cause: details.cause });
    this.name = 'Problem';
    this.status = row.status;
    this.kind = row.kind;
    this.param = details.param ?? null;
    this.issues = details.issues;
    this.retryAfterSeconds = details.retryAfterSeconds ?? row.retryAfterSeconds;
    this.isRepeatWanted = row.isRepeatWanted === true;
    this.isProvisional = details.isProvisional === true;
    this.isFiltered = details.isFiltered === true;
    this.body = details.body;
  }

  /** Any thrown error as a problem: anything else becomes an unknown error with the original as its cause. */
  static from(error: unknown): Problem {
    return error instanceof Problem ? error : new Problem('UNKNOWN_ERROR', { cause: error });
  }
}

/**
 * The error envelope: OpenAI's shape with the codes that its clients know, and the catalogue's code on top.
 */
interface ErrorBody {
  error: { message: string; type: ProblemKind; param: string | null; code: string; retry_after?: number };
  code: string;
  details?: IssueTree;
  issues?: readonly Issue[];
}

/** A tree of `_errors`, one level for each step of the path. */
interface IssueTree {
  _errors: string[];
  [field: string]: IssueTree | string[];
}

/** A problem as the body of an HTTP response. */
export function errorBody(problem: Problem): ErrorBody {
  const { message, kind, param, code, issues } = problem;
  const { openaiCode = code }: ProblemRow = PROBLEMS[code];
  const body: ErrorBody = { error: { message, type: kind, param, code: openaiCode }, code };
  if (issues) {
    body.details = issueTree(issues);
    body.issues = issues;
  }
  return body;
}

function issueTree(issues: readonly Issue[]): IssueTree {
  const root: IssueTree = { _errors: [] };
  for (const issue of issues) {
    let node = root;
    for (const step of issue.path) {
      // A field that is itself called `_errors` must not be taken for the list.
      const key = String(step) === '_errors' ? '_errors_' : String(step);
      const next = Object.hasOwn(node, key) ? (node[key] as IssueTree) : { _errors: [] };
      Object.defineProperty(node, key, { value: next, enumerable: true, configurable: true, writable: true });
      node = next;
    }
    node._errors.push(issue.message);
  }
  return root;
}
