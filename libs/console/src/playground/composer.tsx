import { useRef } from 'preact/hooks';
import { textIn } from '../text/form-text.js';
import { Field } from '../ui/fields.js';
import type { CalledTool, ToolTurn, Turn } from './conversation.js';

interface ComposerProps {
  readonly isRunning: boolean;
  readonly onSend: (turns: readonly Turn[]) => void;
  readonly onStop: () => void;
}

/** The field for the next message. Enter sends, Shift and Enter begin a line. */
export function Composer({ isRunning, onSend, onStop }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const send = () => {
    const content = field.current?.value.trim() ?? '';
    if (content === '' || isRunning) return;
    if (field.current) field.current.value = '';
    onSend([{ role: 'user', content }]);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        rows={2}
        aria-label="Message"
        placeholder="Write a message"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {isRunning ? (
        <button key="stop" type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button key="send" class="primary">
          Send
        </button>
      )}
    </form>
  );
}

interface ResultsProps {
  readonly calls: readonly CalledTool[];
  readonly onSend: (turns: readonly ToolTurn[]) => void;
}

/** The results of the tools that the model has called, which the reader gives. */
export const ToolResults = ({ calls, onSend }: ResultsProps) => (
  <form
    class="card stack"
    onSubmit={(event) => {
      event.preventDefault();
      const data = new FormData(event.currentTarget);
      onSend(calls.map(({ id }) => ({ role: 'tool', id, content: textIn(data, id) })));
    }}
  >
    {calls.map(({ id, name }) => (
      <Field key={id} label={`Result of ${name}`}>
        <textarea class="mono" name={id} rows={2} required />
      </Field>
    ))}
    <div class="row end">
      <button class="primary">Send the results</button>
    </div>
  </form>
);
