import { useState } from 'preact/hooks';

/** What a form or dialog does, once at a time, and the error of the last attempt. */
export interface Action<Input> {
  readonly error: Error | undefined;
  readonly isBusy: boolean;
  readonly run: (input: Input) => Promise<void>;
}

/** Stays busy after a success, since its form is then over, unless the action can be repeated. */
export function useAction<Input = void>(
  work: (input: Input) => Promise<void>,
  { isRepeatable = false } = {},
): Action<Input> {
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const run = async (input: Input): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await work(input);
      if (isRepeatable) setBusy(false);
    } catch (cause) {
      setError(cause as Error);
      setBusy(false);
    }
  };
  return { error, isBusy, run };
}
