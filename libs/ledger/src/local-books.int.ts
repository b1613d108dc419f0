import { BOOKS_WIRE } from '@svc/contracts/ports';
import { overWire } from '@svc/testing';
import { booksConformance } from '../test/books.conformance.js';

booksConformance('the books in this process', (books) => books);
booksConformance('the books over a wire', (books) => overWire(books, BOOKS_WIRE));
