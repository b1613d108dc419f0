/** A file that a caller sent, decoded. What it is shows in its bytes first, then in its media type, then in its name. */
export interface SourceFile {
  /** On whose behalf it is read: accounts take turns. */
  readonly accountId: string;
  readonly name?: string;
  /** As in a data URL, such as `text/csv;charset=utf-8`. */
  readonly mediaType?: string;
  readonly bytes: Uint8Array;
}

export interface ExtractedText {
  /** Plain text, or Markdown for DOCX, PPTX, XLSX, XLS and EPUB. Ends with a note when it was cut. */
  readonly text: string;
  /** What the file was: `pdf`, `epub`, `docx`, `pptx`, `xlsx`, `xls`, `csv`, `json`, `markdown`, `text` or `code`. */
  readonly kind: string;
}

/** Why a file gave no text. */
export class ExtractionFailed extends Error {
  /**
   * @param reason Plain words for the client, a clause without a full stop: `the file is password-protected`.
   * @param retryable True when the file is not at fault: too many others are being read.
   */
  constructor(
    readonly reason: string,
    readonly retryable = false,
  ) {
    super(reason);
    this.name = 'ExtractionFailed';
  }
}

/** Reads the files that callers attach. A call has a deadline of its own, and an abort of the signal ends it at once. */
export abstract class Retrieval {
  /** Throws ExtractionFailed. The bytes stay the caller's. */
  abstract extractText(file: SourceFile, signal?: AbortSignal): Promise<ExtractedText>;
}
