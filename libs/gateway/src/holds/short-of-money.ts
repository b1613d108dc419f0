import { Problem, type ProblemCode } from '@svc/contracts';

const CODES: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'INSUFFICIENT_BALANCE',
  'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
  'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
]);

/** Whether what was thrown says that there is too little money: on the account, or for its key to spend. */
export function isShortOfMoney(error: unknown): error is Problem {
  return error instanceof Problem && CODES.has(error.code);
}
