import { Body, Controller } from '@nestjs/common';
import {
  type CatalogCheck,
  CatalogToCheck,
  type FileInForce,
  type OperatorFileView,
} from '@svc/api/operator';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import { Catalog } from './catalog.js';
import { Characters } from './characters.js';

/** Shows the catalogue that is in force in this process. */
@Controller()
export class CatalogInForceController {
  constructor(private readonly catalog: Catalog) {}

  @Serves(routes.showCatalog)
  show(): OperatorFileView {
    return viewOf(this.catalog.source);
  }
}

/** Shows what other catalogues would change. */
@Controller()
export class CatalogChecksController {
  constructor(private readonly catalog: Catalog) {}

  @Serves(routes.checkCatalog)
  async check(@Body() { text }: CatalogToCheck): Promise<CatalogCheck> {
    const { source } = this.catalog;
    if (!source) throw new Problem('NOT_FOUND');
    return source.check(text);
  }
}

/** Shows it to processes that start with a broken one. */
@Controller()
export class SharedCatalogController {
  constructor(private readonly catalog: Catalog) {}

  @Serves(routes.readCatalog)
  read(): FileInForce {
    const { hash, content } = viewOf(this.catalog.source);
    return { hash, content };
  }
}

/** Shows the characters that are in force in this process. */
@Controller()
export class CharactersInForceController {
  constructor(private readonly characters: Characters) {}

  @Serves(routes.showCharacters)
  show(): OperatorFileView {
    return viewOf(this.characters.source);
  }
}

function viewOf(source: { readonly view: OperatorFileView } | undefined): OperatorFileView {
  if (!source) throw new Problem('NOT_FOUND');
  return source.view;
}
