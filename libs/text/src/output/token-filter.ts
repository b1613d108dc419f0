import { type Fields, fieldsOf } from '@svc/contracts/inference';

/** The tokens of a wrapper for which `isKept` holds. It is called in their order. */
export function filterTokens(wrapped: Fields, isKept: (token: string) => boolean): Fields {
  const { content } = wrapped;
  if (!Array.isArray(content)) return wrapped;
  return { ...wrapped, content: fieldsOf(content).filter(({ token }) => isKept(String(token))) };
}
