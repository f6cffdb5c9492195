/* The endpoints of the API, to read and to try. What changes something carries the token of the page's form. */

const place = document.getElementById("api");

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  docExpansion: "list",
  validatorUrl: null,
  requestInterceptor: (request) => {
    if (request.method && request.method !== "GET") request.headers["X-CSRFToken"] = place.dataset.token;
    return request;
  },
});
