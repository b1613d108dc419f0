/** The input of a thread. */
export interface TextJob {
  readonly name: string | undefined;
  readonly mediaType: string | undefined;
  readonly bytes: Uint8Array;
  readonly textLimit: number;
}
