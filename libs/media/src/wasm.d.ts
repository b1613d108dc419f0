/** The used part of the package; its own types omit it. */
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
    /** Decodes into the frame, RGBA. Passes null on failure. */
    display(frame: Frame, done: (frame: Frame | null) => void): void;
  }

  /** Creates a new decoder with its own memory. */
  const createLibheif: () => { readonly HeifDecoder: new () => { decode(bytes: Uint8Array): HeifImage[] } };
  export default createLibheif;
}

interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** In pages of 64 KiB. Returns the previous number of pages. */
  grow: (this: WasmMemory, pages: number) => number;
}

/** A global of Node that its types omit without those of browsers. */
declare const WebAssembly: { readonly Memory: { readonly prototype: WasmMemory } };
