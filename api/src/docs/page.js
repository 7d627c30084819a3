// Draws the OpenAPI document. Text goes in as text: nothing of the document is ever read as HTML.
const make = (name, props = {}, ...children) => {
  const element = Object.assign(document.createElement(name), props);
  element.append(...children);
  return element;
};

const table = (heads, rows) =>
  make("table", {},
    make("tr", {}, ...heads.map((head) => make("th", { textContent: head }))),
    ...rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, cell)))));

const schemaText = (api, schema) => {
  const name = schema?.$ref?.split("/").pop();
  return JSON.stringify(name ? api.components.schemas[name] : schema, null, 2);
};

const typeOf = (schema) => schema.enum?.join(" | ") ?? schema.format ?? schema.type ?? "any";

const whoMay = (operation) =>
  (operation.security ?? []).map((all) => Object.keys(all).join(" and ")).join(", or ") || "anybody";

const draw = (api, path, method, operation) => {
  const body = make("div", {}, make("p", {}, "Who: ", make("code", { textContent: whoMay(operation) })));
  const parameters = operation.parameters ?? [];
  if (parameters.length) {
    body.append(make("h4", { textContent: "Parameters" }), table(["name", "in", "type", ""], parameters.map((it) => [
      make("code", { textContent: it.name + (it.required ? " *" : "") }), it.in, typeOf(it.schema), it.description ?? "",
    ])));
  }
  const input = operation.requestBody?.content["application/json"]?.schema;
  if (input) {
    body.append(make("h4", { textContent: "Body" }), make("pre", { textContent: schemaText(api, input) }));
  }
  body.append(make("h4", { textContent: "Answers" }));
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    const content = Object.values(response.content ?? {})[0]?.schema;
    const shown = make("details", {}, make("summary", {}, make("b", { textContent: status }), " ", response.description));
    if (content) shown.append(make("div", {}, make("pre", { textContent: schemaText(api, content) })));
    body.append(shown);
  }
  const title = make("summary", {},
    make("span", { className: `method ${method}`, textContent: method.toUpperCase() }),
    make("code", { textContent: path }), " ", operation.summary ?? "");
  return make("details", { id: operation.operationId }, title, body);
};

const show = (api) => {
  document.getElementById("about").textContent = api.info.description;
  const groups = new Map();
  for (const [path, item] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const tag = operation.tags?.[0] ?? "other";
      groups.set(tag, [...(groups.get(tag) ?? []), draw(api, path, method, operation)]);
    }
  }
  const main = document.getElementById("operations");
  main.replaceChildren();
  for (const [tag, operations] of groups) {
    main.append(make("section", {}, make("h2", { textContent: tag }), ...operations));
  }
  document.getElementById("search").addEventListener("input", ({ target }) => {
    const wanted = target.value.toLowerCase();
    for (const operation of main.querySelectorAll("section > details")) {
      operation.hidden = !operation.querySelector("summary").textContent.toLowerCase().includes(wanted);
    }
  });
};

fetch("/api/openapi.json").then((answer) => answer.json()).then(show).catch(() => {
  document.getElementById("operations").textContent = "The document could not be loaded.";
});
