"""Upload of tables, and the fields of the columns page as a browser sends them."""

import html
import re

from django.core.files.uploadedfile import SimpleUploadedFile

GRADES = (
    b"qid,question,doc_id,passage,annotator,score,flag\n"
    b"t1,What drives the mill?,d1,The stream drives the wheel of the mill.,anna,5,x\n"
    b"t1,What drives the mill?,d2,The miller sells flour on Saturdays.,anna,2,y\n"
    b"t1,What drives the mill?,d1,The stream drives the wheel of the mill.,ben,4,z\n"
)


def upload(client, *files, **data):
    form = {"dataset": "mill", "title": "The mill", "project": "main", "files": files, **data}
    return client.post("/import/table/", form)


def table(content=GRADES, name="grades.csv"):
    return SimpleUploadedFile(name, content)


def fields(page: str) -> dict[str, str]:
    """Return the fields of the columns form as a browser sends them."""
    form = max(re.findall(r"<form.*?</form>", page, re.DOTALL), key=len)
    values = {}
    for name, body in re.findall(r'<select\s+name="([^"]+)".*?>(.*?)</select>', form, re.DOTALL):
        options = re.findall(r'<option value="([^"]*)"( selected)?', body)
        values[name] = next((value for value, chosen in options if chosen), options[0][0])
    for name, body in re.findall(r'<textarea\s+name="([^"]+)"[^>]*>\n?([^<]*)', form):
        values[name] = html.unescape(body)
    for tag in re.findall(r"<input.*?/?>", form, re.DOTALL):
        name, value = (re.search(rf'\b{key}="([^"]*)"', tag) for key in ("name", "value"))
        if not name or name[1] == "csrfmiddlewaretoken":
            continue
        if 'type="radio"' in tag or 'type="checkbox"' in tag:
            if "checked" in tag:
                values[name[1]] = value[1] if value else "on"
        else:
            values[name[1]] = value[1] if value else ""
    return values


def columns_page(client, url):
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def post(client, url, page, **changes):
    data = (
        fields(page) | {"action": "preview"} | {k.replace("__", "."): v for k, v in changes.items()}
    )
    return client.post(url, data)
