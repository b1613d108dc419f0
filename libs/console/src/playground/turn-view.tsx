import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { CallError } from '../api/call-error.js';
import { addressOfPage } from '../shell/navigation.js';
import { count, diem, duration, usdNine } from '../text/format.js';
import { Code } from '../ui/copy.js';
import { Markdown, OutsideLink } from '../ui/markdown.js';
import { ErrorNote } from '../ui/states.js';
import type { ModelTurn, Turn } from './conversation.js';

const ENDS = {
  running: 'Writing…',
  complete: undefined,
  stopped: 'Stopped',
  length: 'Ended at the most tokens',
  failed: 'Interrupted',
} as const;

/** The tokens, cost and time of a response. */
function Figures({ turn }: { readonly turn: ModelTurn }) {
  const { usage, cost, end, durationMs, requestId, model } = turn;
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
  return (
    <div class="figure-line">
      <span>{model}</span>
      {ENDS[end] !== undefined && <span>{ENDS[end]}</span>}
      {usage && (
        <span>
          {count(usage.prompt_tokens)} in{cached ? ` (${count(cached)} cached)` : ''},{' '}
          {count(usage.completion_tokens)} out{reasoning ? ` (${count(reasoning)} reasoning)` : ''}
        </span>
      )}
      {cost && (
        <strong>
          {usdNine(cost.usd)}
          {cost.diem > 0 && ` + ${diem(cost.diem)}`}
        </strong>
      )}
      {end !== 'running' && durationMs > 0 && <span>{duration(durationMs)}</span>}
      {requestId !== '' && end !== 'running' && (
        <a href={addressOfPage('requests', { id: requestId })}>Request</a>
      )}
    </div>
  );
}

/** The button that sends again, after the time that the service asks for. */
function Retry({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  const waits = error instanceof CallError ? (error.details.retryAfterSeconds ?? 0) : 0;
  const [left, setLeft] = useState(waits);
  useEffect(() => {
    if (left <= 0) return undefined;
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [left]);
  return (
    <div class="row">
      <button type="button" class="small" disabled={left > 0} onClick={onRetry}>
        {left > 0 ? `Try again in ${left} s` : 'Try again'}
      </button>
      {error instanceof CallError && error.status === 402 && <a href={addressOfPage('credit')}>Add credit</a>}
    </div>
  );
}

function ModelTurnView({ turn, onRetry }: { readonly turn: ModelTurn; readonly onRetry: () => void }) {
  const { reasoning, content, calls, citations, error } = turn;
  return (
    <article class="turn" aria-label="Response" aria-busy={turn.end === 'running'}>
      {reasoning !== '' && (
        <details>
          <summary>Reasoning</summary>
          <Markdown text={reasoning} />
        </details>
      )}
      {content !== '' && <Markdown text={content} />}
      {calls.map(({ id, name, arguments: text }) => (
        <Code key={id} label={`Call of ${name}`} text={`${name}(${text})`} />
      ))}
      {citations.length > 0 && (
        <ol class="hint">
          {citations.map(({ title, url }) => (
            <li key={url}>
              <OutsideLink href={url}>{title}</OutsideLink>
            </li>
          ))}
        </ol>
      )}
      {error && (
        <>
          <ErrorNote error={error} />
          <Retry error={error} onRetry={onRetry} />
        </>
      )}
      <Figures turn={turn} />
    </article>
  );
}

const Spoken = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <article class="turn user" aria-label={label}>
    <div class="words">{children}</div>
  </article>
);

interface TurnProps {
  readonly turn: Turn;
  readonly onRetry: () => void;
}

export function TurnView({ turn, onRetry }: TurnProps) {
  if (turn.role === 'user') return <Spoken label="You">{turn.content}</Spoken>;
  if (turn.role === 'tool') return <Spoken label="Result of a tool">{turn.content}</Spoken>;
  return <ModelTurnView turn={turn} onRetry={onRetry} />;
}
