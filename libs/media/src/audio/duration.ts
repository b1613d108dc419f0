/** The length of an audio stream. */
export interface Duration {
  readonly seconds: number;
  /** Whether it depends on time stamps, which an untruthful file may have. */
  readonly isWeak?: boolean;
}
