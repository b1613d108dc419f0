// Rules for oxlint.

/**
 * A function with more parameters is hard to call; a constructor lists what is injected. oxlint's own rule
 * has one limit for both.
 */
const MOST = { function: 3, constructor: 7 };

const maxParams = {
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

/**
 * V8's parser takes a function that is assigned to a property for a method of a prototype, and lets it be
 * made in the old generation. Made for a request, it keeps all that it uses until the next full collection.
 */
const noAssignedFunction = {
  create(context) {
    const isFunction = ({ type }) => type === 'ArrowFunctionExpression' || type === 'FunctionExpression';
    return {
      AssignmentExpression({ left, right }) {
        if (left.type !== 'MemberExpression' || !isFunction(right)) return;
        context.report({
          node: right,
          message: 'Give this function a name, and assign the name: see tools/lint/rules.mjs.',
        });
      },
    };
  },
};

export default {
  meta: { name: 'svc' },
  rules: { 'max-params': maxParams, 'no-assigned-function': noAssignedFunction },
};
