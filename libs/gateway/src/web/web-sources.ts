import { Injectable } from '@nestjs/common';
import { Retrieval, WebPages, WebSearch } from '@svc/contracts';

/** The sources of text from the web and from files. */
@Injectable()
export class WebSources {
  constructor(
    readonly search: WebSearch,
    readonly pages: WebPages,
    readonly files: Retrieval,
  ) {}
}
