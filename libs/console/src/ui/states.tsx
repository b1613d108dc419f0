import type { ComponentChildren } from 'preact';
import { CallError } from '../api/call-error.js';
import type { Resource } from './resource.js';

/** Grey lines of the height of what is loaded, so that nothing moves when it arrives. */
export const Skeleton = ({ rows }: { readonly rows: number }) => (
  <div class="skeleton" aria-hidden="true">
    {Array.from({ length: rows }, (_, at) => (
      <i key={at} />
    ))}
  </div>
);

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

export const Empty = ({ title, children }: EmptyProps) => (
  <div class="empty">
    <strong>{title}</strong>
    {children}
  </div>
);

interface ErrorProps {
  readonly error: Error;
  readonly onRetry?: (() => void) | undefined;
}

/** An error with the request's id, by which an operator finds it. */
export function ErrorNote({ error, onRetry }: ErrorProps) {
  const requestId = error instanceof CallError ? error.details.requestId : undefined;
  return (
    <div class="note danger stack" role="alert">
      <p>{error.message}</p>
      {requestId !== undefined && <p class="mono">Request {requestId}</p>}
      {onRetry && (
        <div class="row">
          <button type="button" class="small" onClick={onRetry}>
            Try again
          </button>
        </div>
      )}
    </div>
  );
}

interface LoadedProps<T> {
  readonly resource: Resource<T>;
  /** The number of grey lines while nothing is loaded. */
  readonly rows: number;
  readonly children: (value: T) => ComponentChildren;
}

/** What a resource has loaded, or its state. */
export function Loaded<T>({ resource, rows, children }: LoadedProps<T>) {
  const { value, error, isLoading, reload } = resource;
  return (
    <div aria-busy={isLoading}>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {value === undefined && !error && <Skeleton rows={rows} />}
      {value !== undefined && children(value)}
    </div>
  );
}
