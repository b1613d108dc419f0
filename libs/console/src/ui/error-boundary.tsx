import { Component, type ComponentChildren } from 'preact';
import { ErrorNote } from './states.js';

interface BoundaryProps {
  readonly children: ComponentChildren;
}

/** Shows a fault of what is within it, so that the rest of the page stays usable. */
export class ErrorBoundary extends Component<BoundaryProps, { readonly error?: Error }> {
  override state: { readonly error?: Error } = {};

  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <ErrorNote
        error={new Error('This part of the page has a fault.', { cause: error })}
        onRetry={() => this.setState({ error: undefined })}
      />
    );
  }
}
