/** What a thread is given. */
export interface TextJob {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  readonly bytes: Uint8Array;
  readonly textLimit: number;
}
