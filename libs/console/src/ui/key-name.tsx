import type { ComponentChildren } from 'preact';

interface KeyNameProps {
  readonly description: string;
  readonly apiKeyType: 'INFERENCE' | 'ADMIN';
  readonly last6Chars: string;
  /** Further badges. */
  readonly children?: ComponentChildren;
}

/** How a key is named in a table. */
export const KeyName = ({ description, apiKeyType, last6Chars, children }: KeyNameProps) => (
  <span>
    <strong>{description === '' ? 'Without a description' : description}</strong>{' '}
    {apiKeyType === 'ADMIN' && <span class="badge accent">ADMIN</span>} {children}
    <br />
    <span class="mono muted">···{last6Chars}</span>
  </span>
);
