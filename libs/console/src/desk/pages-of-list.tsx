import { useEffect, useState } from 'preact/hooks';
import { ErrorNote } from '../ui/states.js';

interface ListPage<T> {
  readonly data: readonly T[];
  readonly nextBefore: string | null;
}

/** The rows of a list: those of its first page, and of the further ones that a button loads. */
export function useFurther<T>(
  first: ListPage<T> | undefined,
  load: (before: string) => Promise<ListPage<T>>,
) {
  const [pages, setPages] = useState<readonly ListPage<T>[]>([]);
  const [error, setError] = useState<Error>();
  useEffect(() => setPages([]), [first]);
  const before = (pages.at(-1) ?? first)?.nextBefore ?? null;
  const loadNext = async () => {
    if (before === null) return;
    try {
      const next = await load(before);
      setPages((known) => [...known, next]);
      setError(undefined);
    } catch (cause) {
      setError(cause as Error);
    }
  };
  const button = (
    <>
      {error && <ErrorNote error={error} />}
      {before !== null && (
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
