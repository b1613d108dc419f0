// A rule for oxlint. Its own `max-params` has one limit for functions and constructors.

/** A function with more parameters is hard to call; a constructor lists what is injected. */
const MOST = { function: 3, constructor: 7 };

const rule = {
  create(context) {
    const check = (node) => {
      const kind = node.parent?.kind === 'constructor' ? 'constructor' : 'function';
      const count = node.params.filter(({ name }) => name !== 'this').length;
      if (count <= MOST[kind]) return;
      context.report({
        node,
        message: `This ${kind} has ${count} parameters; at most ${MOST[kind]} are allowed.`,
      });
    };
    return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
  },
};

export default { meta: { name: 'svc' }, rules: { 'max-params': rule } };
