import type { ComponentType } from 'preact';

/** A page of the menu. */
export interface PageEntry {
  /** The last part of its address. */
  readonly name: string;
  readonly title: string;
  readonly load: () => Promise<ComponentType>;
}
