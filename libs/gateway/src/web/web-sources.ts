import { Injectable } from '@nestjs/common';
import { Retrieval, WebPages, WebSearch } from '@svc/contracts';

/** Where text of the web and of files comes from. */
@Injectable()
export class WebSources {
  constructor(
    readonly search: WebSearch,
    readonly pages: WebPages,
    readonly files: Retrieval,
  ) {}
}
