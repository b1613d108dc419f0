import type { ComponentType } from 'preact';

/** A page of the menu. */
export interface PageEntry {
  /** The last part of its address. */
  readonly name: string;
  readonly title: string;
  /** Whether a key that is not an ADMIN key may open it. */
  readonly isForAll: boolean;
  readonly load: () => Promise<ComponentType>;
}
