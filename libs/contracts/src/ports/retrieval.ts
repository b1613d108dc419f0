/**
 * A file sent by a caller, decoded. Its kind is determined by its bytes first, then its media type, then its
 * name.
 */
export interface SourceFile {
  /** The account it is read for: accounts take turns. */
  readonly accountId: string;
  readonly name?: string;
  /** As in a data URL, such as `text/csv;charset=utf-8`. */
  readonly mediaType?: string;
  readonly bytes: Uint8Array;
}

export interface ExtractedText {
  /** Plain text, or Markdown for DOCX, PPTX, XLSX, XLS and EPUB. Ends with a note if it was cut. */
  readonly text: string;
  /**
   * The kind of the file: `pdf`, `epub`, `docx`, `pptx`, `xlsx`, `xls`, `csv`, `json`, `markdown`, `text` or
   * `code`.
   */
  readonly kind: string;
}

/** Why no text could be extracted from a file. */
export class ExtractionFailed extends Error {
  /**
   * @param reason Plain words for the client, a clause without a full stop: `the file is password-protected`.
   * @param retryable True if the file is not at fault: too many others are being read.
   */
  constructor(
    readonly reason: string,
    readonly retryable = false,
  ) {
    super(reason);
    this.name = 'ExtractionFailed';
  }
}

/**
 * Reads the files that callers attach. Each call has its own deadline, and an abort of the signal ends it at
 * once.
 */
export abstract class Retrieval {
  /** Throws ExtractionFailed. The bytes remain the caller's. */
  abstract extractText(file: SourceFile, signal?: AbortSignal): Promise<ExtractedText>;
}
