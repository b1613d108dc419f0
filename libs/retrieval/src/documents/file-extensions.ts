type TextKind = 'csv' | 'json' | 'markdown' | 'text' | 'code';
type BinaryKind = 'pdf' | 'epub' | 'docx' | 'pptx' | 'xlsx' | 'xls';
export type FileKind = TextKind | BinaryKind;

const endings: Record<FileKind, string> = {
  pdf: 'pdf',
  epub: 'epub',
  docx: 'docx docm dotx dotm',
  pptx: 'pptx pptm ppsx ppsm potx',
  xlsx: 'xlsx xlsm xltx xltm',
  xls: 'xls xlt',
  csv: 'csv tsv',
  json: 'json jsonl ndjson geojson ipynb webmanifest har',
  markdown: 'md markdown mdx mdown mkd',
  text: 'txt text log rst adoc asciidoc org textile ics vcf eml srt vtt',
  code: `
    ada adb ads applescript asm astro awk bash bat bib bzl c cc cfg cjs clj cljc cljs cls cmake cmd cob coffee conf
    cpp cr cs cshtml csproj css cts cu cuh cxx d dart diff dockerfile editorconfig ejs el elm env erb erl ex exs f
    f90 f95 feature fish frag fs fsi fsx gemspec gitattributes gitignore gleam glsl go gql gradle graphql groovy h
    haml hbs hcl hh hpp hrl hs htm html hxx ini java jinja jinja2 jl js json5 jsx kt kts less lhs liquid lisp lock
    lua m mak mjs mk ml mli mm mod mts mustache nim nix pas patch php phtml pl plist pm po pp prisma properties
    proto ps1 psd1 psm1 pug purs py pyi pyx qml r rake rb rbs rkt rs sass sbt scala scm scss sh sln sol sql styl
    sum sv svelte svg swift tcl tex tf tfvars thrift toml tpl ts tsx twig v vb vbs vert vhd vhdl vim vue wat wgsl
    wsdl xaml xhtml xml xsd xsl xslt yaml yml zig zsh`,
};

function* rows(): Generator<[string, FileKind]> {
  let kind: FileKind;
  for (kind in endings) for (const ending of endings[kind].trim().split(/\s+/)) yield [ending, kind];
}

/** The kind of a file by its extension, in lower case. */
export const kindByEnding: ReadonlyMap<string, FileKind> = new Map(rows());
