import { useRef } from 'preact/hooks';
import { announce } from './announce.js';

/** Copies a text. Where the clipboard is refused, the text is selected so that it can be copied by hand. */
async function copy(text: string, shown: Element | null): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce('Copied');
  } catch {
    if (shown) getSelection()?.selectAllChildren(shown);
    announce('The browser refused the clipboard. The text is selected: copy it with Ctrl+C.');
  }
}

interface CodeProps {
  readonly text: string;
  readonly label: string;
}

function CopyButton({
  text,
  label,
  shown,
}: CodeProps & { readonly shown: { readonly current: Element | null } }) {
  return (
    <button
      type="button"
      class="small"
      aria-label={`Copy: ${label}`}
      onClick={() => void copy(text, shown.current)}
    >
      Copy
    </button>
  );
}

/** A text in a box, with a button that copies it. */
export function Code({ text, label }: CodeProps) {
  const shown = useRef<HTMLPreElement>(null);
  return (
    <div class="code">
      <pre ref={shown} tabIndex={0} aria-label={label} role="region">
        {text}
      </pre>
      <CopyButton text={text} label={label} shown={shown} />
    </div>
  );
}

/** A short text, such as an id, with a button that copies it. */
export function Copyable({ text, label }: CodeProps) {
  const shown = useRef<HTMLElement>(null);
  return (
    <span class="row">
      <code ref={shown}>{text}</code>
      <CopyButton text={text} label={label} shown={shown} />
    </span>
  );
}
