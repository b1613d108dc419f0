/** The part of the package that is used here; its own types leave it out. */
declare module 'libheif-js/libheif-wasm/libheif-bundle.mjs' {
  interface Frame {
    readonly data: Uint8ClampedArray;
    readonly width: number;
    readonly height: number;
  }

  interface HeifImage {
    get_width(): number;
    get_height(): number;
    is_primary(): boolean | number;
    /** Decodes into the frame, RGBA. Gives null when that fails. */
    display(frame: Frame, done: (frame: Frame | null) => void): void;
  }

  /** Compiles the decoder anew, with memory of its own. */
  const createLibheif: () => { readonly HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] } };
  export default createLibheif;
}

interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** In pages of 64 KiB. Gives the pages that there were before. */
  grow: (this: WasmMemory, pages: number) => number;
}

/** A global of Node that its types leave out without those of browsers. */
declare const WebAssembly: { readonly Memory: { readonly prototype: WasmMemory } };
