import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { faultsOf } from '../api/call-error.js';
import { useAction } from '../ui/action.js';
import { ErrorNote } from '../ui/states.js';

type Faults = ReadonlyMap<string, string>;

interface DeskFormProps {
  readonly action: string;
  readonly isDanger?: boolean;
  /** What is asked before it is done; without it, it is done at once. */
  readonly question?: (data: FormData) => string;
  readonly onSubmit: (data: FormData) => Promise<void>;
  /** The fields, with the faults that the service found in them. */
  readonly children: (faults: Faults) => ComponentChildren;
}

interface QuestionProps {
  readonly text: string;
  readonly action: string;
  readonly isBusy: boolean;
  readonly onBack: () => void;
}

/**
 * The focus is on the text before the next key arrives, so that the key that sent the form, held or pressed
 * twice, does not confirm it too.
 */
function Question({ text, action, isBusy, onBack }: QuestionProps) {
  const note = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => note.current?.focus(), []);
  return (
    <>
      <p ref={note} class="note warn" tabIndex={-1}>
        {text}
      </p>
      <div class="row end">
        <button type="button" onClick={onBack}>
          Back
        </button>
        <button class="danger" disabled={isBusy}>
          {action}
        </button>
      </div>
    </>
  );
}

/** A form whose faults are shown at its fields. */
export function DeskForm({ action, isDanger = false, question, onSubmit, children }: DeskFormProps) {
  const [openQuestion, setOpenQuestion] = useState<string>();
  const { error, isBusy, run } = useAction(async (data: FormData) => {
    try {
      await onSubmit(data);
    } catch (cause) {
      setOpenQuestion(undefined);
      throw cause;
    }
  });
  const faults = faultsOf(error);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        if (question && openQuestion === undefined) setOpenQuestion(question(data));
        else void run(data);
      }}
    >
      <div class="stack" hidden={openQuestion !== undefined}>
        {children(faults)}
      </div>
      {error && openQuestion === undefined && (
        <ErrorNote
          error={faults.size > 0 ? new Error('Something is not right yet: see the fields.') : error}
        />
      )}
      {openQuestion === undefined ? (
        <div class="row end">
          <button class={isDanger ? 'danger' : 'primary'} disabled={isBusy}>
            {action}
          </button>
        </div>
      ) : (
        <Question
          text={openQuestion}
          action={action}
          isBusy={isBusy}
          onBack={() => setOpenQuestion(undefined)}
        />
      )}
    </form>
  );
}
