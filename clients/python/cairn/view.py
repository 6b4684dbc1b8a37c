"""The viewer inside a notebook: a frame with the page that `cairnd --web` serves."""
import html
import urllib.parse


class View:
    """What a notebook shows for World.view(): the viewer's page, which opens a session of its own."""

    def __init__(self, address, world, height):
        self.url = f"http://{address}/#" + urllib.parse.urlencode({"world": world})
        self.height = height

    def _repr_html_(self):
        return (f'<iframe src="{html.escape(self.url)}" style="width: 100%; height: {int(self.height)}px; border: 0" '
                f'title="Cairn"></iframe>')

    def __repr__(self):
        return f"View({self.url})"
