import type { ComponentChildren } from 'preact';

interface KeyNameProps {
  readonly description: string;
  readonly apiKeyType: 'INFERENCE' | 'ADMIN';
  readonly last6Chars: string;
  readonly tags?: readonly string[] | undefined;
  /** Further badges. */
  readonly children?: ComponentChildren;
}

/** How a key is named in a table. */
export const KeyName = ({ description, apiKeyType, last6Chars, tags, children }: KeyNameProps) => (
  <span>
    <strong>{description === '' ? 'Without a description' : description}</strong>{' '}
    {apiKeyType === 'ADMIN' && <span class="badge accent">ADMIN</span>} {children}
    {tags?.map((tag) => (
      <span key={tag} class="badge">
        {tag}
      </span>
    ))}
    <br />
    <span class="mono muted">···{last6Chars}</span>
  </span>
);
