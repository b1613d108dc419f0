import { useEffect, useRef, useState } from 'preact/hooks';

/** What a page loads: nothing yet, a value, or an error; an older value stays while a newer one is loaded. */
export interface Resource<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

const NOTHING = { value: undefined, error: undefined, isLoading: true };

/** Loads when the component appears and whenever one of `inputs` changes; an outdated load is aborted. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly (string | number | boolean | undefined)[],
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, 'reload'>>(NOTHING);
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, error: undefined, isLoading: true }));
    latest.current(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, error: undefined, isLoading: false });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const cause = error instanceof Error ? error : new Error(String(error));
        setState({ value: undefined, error: cause, isLoading: false });
      },
    );
    return () => abort.abort();
  }, [round, ...inputs]);
  return { ...state, reload: () => setRound((before) => before + 1) };
}
