import { useEffect, useState } from 'preact/hooks';
import { ErrorNote } from './states.js';

interface ListPage<T> {
  readonly data: readonly T[];
  /** Where the next page begins; null at the end. The name depends on the list. */
  readonly nextBefore?: string | null;
  readonly nextCursor?: string | null;
}

/** The rows of a list: those of its first page, and of the further ones that a button loads. */
export function useFurther<T>(first: ListPage<T> | undefined, load: (from: string) => Promise<ListPage<T>>) {
  const [pages, setPages] = useState<readonly ListPage<T>[]>([]);
  const [error, setError] = useState<Error>();
  useEffect(() => setPages([]), [first]);
  const { nextBefore = null, nextCursor = nextBefore } = pages.at(-1) ?? first ?? {};
  const loadNext = async () => {
    if (nextCursor === null) return;
    try {
      const next = await load(nextCursor);
      setPages((known) => [...known, next]);
      setError(undefined);
    } catch (cause) {
      setError(cause as Error);
    }
  };
  const button = (
    <>
      {error && <ErrorNote error={error} />}
      {nextCursor !== null && (
        <div class="row">
          <button type="button" onClick={() => void loadNext()}>
            Show older ones
          </button>
        </div>
      )}
    </>
  );
  return { rows: [...(first?.data ?? []), ...pages.flatMap(({ data }) => data)], button };
}
